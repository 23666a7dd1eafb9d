import { isObject } from '../../../packages/gantry/src/kernel/json.ts';
import type { JsonObject } from '../../../packages/gantry/src/kernel/json.ts';
import { providerToolName } from '../../../packages/gantry/src/schema/tool-name.ts';
import { expectationPerRow, unless } from '../lib/compare.ts';
import { judgeCall } from '../lib/judge-call.ts';
import { callAsModel, offering, startGantry } from '../lib/local-gantry.ts';
import { asText, listOf, rowsOf } from '../lib/read-cases.ts';
import type { Handler } from '../lib/verdict.ts';
import { NotCovered, refuseUnread } from '../lib/verdict.ts';
import { recorder } from './args.ts';

/** A whole call, name and arguments → its result. */
export const toolCall: Handler = async (fieldCase) => {
  const { input, expect } = fieldCase;
  refuseUnread(input, 'the input', ['known', 'rows', 'name', 'args', 'argsText']);
  refuseUnread(expect, 'the expectation', ['rows', 'turnContinues', 'error', 'oneOf', 'args', 'historyNamePattern']);
  const received: { tool: string; args: JsonObject }[] = [];
  const tools = listOf(input['known']).map((known) =>
    isObject(known)
      ? recorder(asText(known['name']), known['inputSchema'] as JsonObject | undefined, received)
      : recorder(asText(known), undefined, received),
  );
  await using local = await startGantry(() => [offering(tools)]);
  const rows = rowsOf(fieldCase);
  const { turnContinues: _resolves, rows: perRow, ...single } = expect;
  const expected = expectationPerRow(perRow ?? single, rows.length);
  const problems: string[] = [];
  for (const [index, row] of rows.entries()) {
    if (!isObject(row) || typeof row['name'] !== 'string') throw new NotCovered(`row ${index} names no tool`);
    const written = 'argsText' in row ? row['argsText'] : JSON.stringify(row['args'] ?? {});
    // A call that throws ends the turn, and the case with it.
    const facts = await callAsModel(local.gantry, { name: row['name'], arguments: written }, received);
    const subject = `row ${index}`;
    const wanted = expected[index];
    const { historyNamePattern: pattern, ...outcome } = isObject(wanted) ? wanted : { outcome: wanted };
    problems.push(...judgeCall(subject, isObject(wanted) ? outcome : wanted, facts));
    if (typeof pattern === 'string') {
      const name = providerToolName(row['name'], 'anthropic');
      problems.push(
        ...unless(new RegExp(pattern).test(name), `${subject}: expected a history name like ${pattern}`, name),
      );
    }
  }
  return problems;
};
