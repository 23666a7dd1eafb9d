import type { Tool } from 'gantry';
import { isObject } from '../../../packages/gantry/src/kernel/json.ts';
import type { JsonObject } from '../../../packages/gantry/src/kernel/json.ts';
import type { Provider } from '../../../packages/gantry/src/schema/adapt/provider.ts';
import { typedToolName } from '../../../packages/gantry/src/schema/tool-name.ts';
import { differences, shown, unless, unmentioned } from '../lib/compare.ts';
import { judgeCall } from '../lib/judge-call.ts';
import type { LocalGantry } from '../lib/local-gantry.ts';
import { callAsModel, offering, startGantry } from '../lib/local-gantry.ts';
import type { Sent } from '../lib/provider-tools.ts';
import { restored, sentTools, toProvider } from '../lib/provider-tools.ts';
import { asText, listOf, textsOf } from '../lib/read-cases.ts';
import { wrongSchema } from '../lib/schema-checks.ts';
import type { Handler } from '../lib/verdict.ts';
import { NotCovered, refuseUnread } from '../lib/verdict.ts';

interface Listed {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema: JsonObject;
  readonly server?: string;
}
interface Received {
  readonly tool: string;
  readonly server?: string | undefined;
  readonly args: JsonObject;
}
type Members = Readonly<Record<string, unknown>>;

/** Tools → what a provider is sent, and what reaches the server after a model called. */
export const sendTools: Handler = async ({ input, expect }) => {
  refuseUnread(input, 'the input', ['provider', 'tools', 'modelCalls', 'sendTwice', 'reverseOrderOnSecond']);
  const read = [
    'registered',
    'checks',
    'localValidation',
    'serverReceives',
    'serverReceivesOneOf',
    'names',
    'roundTrip',
  ];
  refuseUnread(expect, 'the expectation', read);
  const provider = toProvider(input['provider']);
  const listed = listOf(input['tools']) as readonly Listed[];
  const received: Received[] = [];
  await using local = await startOffering(listed, received);
  const sent = sentOf(local, provider);
  const problems: string[] = [];
  if (Array.isArray(expect['registered']))
    problems.push(...differences('registered', sent.map(nameOf).toSorted(), textsOf(expect['registered']).toSorted()));
  else if (expect['registered'] !== undefined)
    problems.push(...differences('registered', sent.length, expect['registered']));
  for (const check of listOf(expect['checks']) as readonly Members[]) {
    const meant = sent.filter((tool) => check['tool'] === undefined || nameOf(tool) === check['tool']);
    if (meant.length === 0) problems.push(`expected a tool ${shown(check['tool'])}, came ${shown(sent.map(nameOf))}`);
    for (const tool of meant) problems.push(...wrongSchema(nameOf(tool), tool, check));
  }

  const call = async (tool: Sent, written: string) => {
    const args = restored(tool, written);
    return await callAsModel(local.gantry, { name: tool.registration.name, arguments: args }, received);
  };
  for (const rule of listOf(expect['localValidation']) as readonly Members[]) {
    refuseUnread(rule, 'a local validation', ['tool', 'args', 'argsText', 'ok', 'mentions']);
    const tool = toolNamed(sent, rule['tool']);
    const facts = await call(tool, toWritten(rule));
    const subject = `${nameOf(tool)} with ${toWritten(rule)}`;
    problems.push(...differences(`${subject}: ok`, !facts.isError, rule['ok'] ?? true));
    problems.push(
      ...unless(
        facts.received.length > 0 === (rule['ok'] ?? true),
        `${subject}: expected ok ${asText(rule['ok'])}`,
        facts.text,
      ),
    );
    problems.push(...unmentioned(subject, facts.text, rule['mentions']));
  }

  const made = listOf(input['modelCalls']) as readonly Members[];
  const wanted =
    'serverReceivesOneOf' in expect
      ? made.map(() => ({ oneOf: expect['serverReceivesOneOf'] }))
      : listOf(expect['serverReceives']);
  if (wanted.length > 0 && wanted.length !== made.length)
    throw new NotCovered(`${wanted.length} outcomes stand against ${made.length} calls`);
  for (const [index, one] of made.entries()) {
    const facts = await call(toolNamed(sent, one['name']), toWritten(one));
    if (wanted.length > 0) problems.push(...judgeCall(`model call ${index}`, wanted[index], facts));
  }

  for (const trip of listOf(expect['roundTrip']) as readonly Members[]) {
    const index = Number(trip['callSentNameOf']);
    const meant = sent.find((tool) => isListed(tool, listed[index]));
    if (!meant) throw new NotCovered(`tool ${asText(trip['callSentNameOf'])} was not sent`);
    // The sent name is all that comes back, so the tool is found by it.
    const named = sent.find(({ name }) => name === meant.name) as Sent;
    await call(named, '{}');
    const { server, tool: name } = received[0] ?? {};
    problems.push(
      ...differences(
        `a call of ${meant.name} reaches`,
        server === undefined ? { name } : { server, name },
        trip['reaches'],
      ),
    );
  }
  if (isObject(expect['names'])) problems.push(...(await wrongNames(expect['names'], sent, input, provider)));
  return problems;
};

const wrongNames = async (
  wanted: Members,
  sent: readonly Sent[],
  input: Members,
  provider: Provider,
): Promise<string[]> => {
  refuseUnread(wanted, 'the expected names', ['pattern', 'unique', 'sameOnBothSends']);
  const problems = nameProblems(
    sent.map(({ name }) => name),
    wanted,
  );
  if (!input['sendTwice'] && !wanted['sameOnBothSends']) return problems;
  const listed = listOf(input['tools']) as readonly Listed[];
  await using again = await startOffering(input['reverseOrderOnSecond'] ? listed.toReversed() : listed, []);
  const pairs = (tools: readonly Sent[]): string[] =>
    tools
      .map(({ name, registration }) => `${registration.target?.server}/${nameOf({ registration })} as ${name}`)
      .toSorted();
  return [...problems, ...differences('the names of the second send', pairs(sentOf(again, provider)), pairs(sent))];
};

const toWritten = (call: Members): string =>
  'argsText' in call ? asText(call['argsText']) : JSON.stringify(call['args'] ?? {});

/** Judges names by a pattern and by being different from each other. */
export const nameProblems = (names: readonly string[], { pattern, unique }: Members): string[] => [
  ...(typeof pattern === 'string'
    ? names
        .filter((name) => !new RegExp(pattern).test(name))
        .map((name) => `expected a name like ${pattern}, came ${name}`)
    : []),
  ...(unique ? unless(new Set(names).size === names.length, 'expected different names', names) : []),
];

const startOffering = (listed: readonly Listed[], received: Received[]): Promise<LocalGantry> =>
  startGantry(() => [offering(listed.map((tool) => toTool(tool, received)))]);

const toTool = (listed: Listed, received: Received[]): Tool => {
  const executor: Tool['executor'] = {
    execute: async (call) => {
      received.push({ tool: listed.name, server: listed.server, args: call.arguments });
      return { status: 'done', parts: [] };
    },
  };
  const { server, name, inputSchema, description = `The tool ${name}.` } = listed;
  const registration =
    server === undefined
      ? { name, description, inputSchema, source: 'field-case' }
      : {
          name: typedToolName(server, name),
          description,
          inputSchema,
          source: `mcp:${server}`,
          target: { server, tool: name },
        };
  return { registration, executor };
};

const sentOf = ({ gantry }: LocalGantry, provider: Provider): readonly Sent[] =>
  sentTools(gantry, provider, (source) => source === 'field-case' || source.startsWith('mcp:'));

const nameOf = ({ registration }: Pick<Sent, 'registration'>): string => registration.target?.tool ?? registration.name;

const isListed = (sent: Sent, listed: Listed | undefined): boolean =>
  nameOf(sent) === listed?.name && sent.registration.target?.server === listed.server;

const toolNamed = (sent: readonly Sent[], name: unknown): Sent => {
  const found = sent.find((tool) => tool.name === name || nameOf(tool) === name);
  if (!found) throw new NotCovered(`no tool ${shown(name)} was sent`);
  return found;
};
