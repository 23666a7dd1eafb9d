import type { Tool } from 'gantry';
import { isObject } from '../../../packages/gantry/src/kernel/json.ts';
import type { JsonObject } from '../../../packages/gantry/src/kernel/json.ts';
import { unless } from '../lib/compare.ts';
import { judgeCall, judgeError } from '../lib/judge-call.ts';
import { callAsModel, offering, startGantry } from '../lib/local-gantry.ts';
import { asText, listOf } from '../lib/read-cases.ts';
import type { Handler } from '../lib/verdict.ts';
import { NotCovered, refuseUnread } from '../lib/verdict.ts';

/** Schema and what a model wrote → the arguments that reach the tool, or an error for the model. */
export const args: Handler = async ({ input, expect }) => {
  refuseUnread(input, 'the input', ['schema', 'argsText', 'args', 'rows', 'hostContext']);
  refuseUnread(expect, 'the expectation', ['args', 'argsOneOf', 'rows', 'serverCalled', 'error', 'oneOf', 'outcome']);
  const received: { tool: string; args: JsonObject }[] = [];
  const host = isObject(input['hostContext']) ? input['hostContext'] : {};
  const rows = 'rows' in input ? listOf(input['rows']) : [input];
  const schemas = rows.map((row) => schemaOf(input, row));
  const probes = schemas.map((schema, index) => recorder(`probe${index}`, schema, received));
  await using local = await startGantry(() => [offering(probes)]);
  const expected = expectedRows(expect, rows.length);
  const problems: string[] = [];
  let calls = 0;
  for (const [index, row] of rows.entries()) {
    const facts = await callAsModel(
      local.gantry,
      {
        name: `probe${index}`,
        arguments: isObject(row) ? toWritten(row, schemas[index] as JsonObject) : row,
        id: host['toolCallId'] as string | undefined,
        namespace: typeof host['sessionId'] === 'string' ? `session/${host['sessionId']}` : undefined,
      },
      received,
    );
    calls += facts.received.length;
    const subject = rows.length > 1 ? `row ${index}` : 'call';
    const wanted = expected[index];
    problems.push(
      ...(isObject(expect['error']) || expect['error'] === true
        ? judgeError(subject, expect['error'], facts)
        : judgeCall(subject, wanted, facts)),
    );
  }
  if (typeof expect['serverCalled'] === 'boolean')
    problems.push(
      ...unless(calls > 0 === expect['serverCalled'], `expected serverCalled ${expect['serverCalled']}`, calls),
    );
  return problems;
};

/** The schema of the case, or a row's own. */
const schemaOf = (input: Readonly<Record<string, unknown>>, row: unknown): JsonObject => {
  const schema = input['schema'] ?? (isObject(row) ? row['schema'] : undefined);
  if (!isObject(schema)) throw new NotCovered('the schema is no object');
  return schema as JsonObject;
};

const expectedRows = (expect: Readonly<Record<string, unknown>>, count: number): readonly unknown[] => {
  const oneOf = expect['argsOneOf'] ?? expect['oneOf'];
  if (oneOf !== undefined) return Array.from({ length: count }, () => ({ oneOf }));
  const given = expect['rows'] ?? expect['args'] ?? expect['outcome'] ?? expect['error'];
  if (given === undefined) throw new NotCovered('nothing is expected of the arguments');
  if (Array.isArray(given) && given.length === count) return given as unknown[];
  if (count === 1 || !Array.isArray(given)) return Array.from({ length: count }, () => given);
  throw new NotCovered(`${given.length} outcomes stand against ${count} rows`);
};

/** What the model wrote: its text if the case has it, else the JSON text of the object. */
const toWritten = (row: Readonly<Record<string, unknown>>, schema: Readonly<Record<string, unknown>>): string => {
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  if ('argsText' in row && !('argsText' in properties)) return asText(row['argsText']);
  if ('args' in row && !('args' in properties)) return JSON.stringify(row['args']);
  return JSON.stringify(row);
};

/** A tool that keeps what reaches it. */
export const recorder = (
  name: string,
  inputSchema: JsonObject | undefined,
  received: { tool: string; args: JsonObject }[],
): Tool => ({
  registration: {
    name,
    description: `The tool ${name}.`,
    source: 'field-case',
    inputSchema: inputSchema ?? { type: 'object' },
  },
  executor: {
    execute: async (call) => {
      received.push({ tool: name, args: call.arguments });
      return { status: 'done', parts: [{ type: 'text', text: 'ok' }] };
    },
  },
});
