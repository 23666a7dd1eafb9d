import { isObject } from '../../../packages/gantry/src/kernel/json.ts';
import { outcomeText } from '../../../packages/gantry/src/tool/outcome-text.ts';
import type { Outcome } from '../../../packages/gantry/src/tool/outcome.ts';
import { startRawServer, toolNamed } from '../../fixtures/raw-server.ts';
import { shown, unless, unmentioned } from '../lib/compare.ts';
import { asText, listOf } from '../lib/read-cases.ts';
import { startServed } from '../lib/served-gantry.ts';
import type { Handler } from '../lib/verdict.ts';
import { NotCovered, refuseUnread } from '../lib/verdict.ts';

const context = { caller: 'model', namespace: 'session/1', tier: 'high' } as const;
const schema = {
  type: 'object',
  properties: { customer: { type: 'string' }, amount: { type: 'number' } },
  required: ['customer', 'amount'],
};
const wrongKeys = { client: 'c' };
const rightKeys = { customer: 'c', amount: 1 };

/** Search and calls over many tools, one after another in one session. */
export const lazyTools: Handler = async ({ input, expect }) => {
  refuseUnread(input, 'the input', ['tools', 'script']);
  refuseUnread(expect, 'the expectation', ['searchTop5Has', 'firstCall', 'secondCall', 'afterCompaction', 'noSuch']);
  const wanted = asText(expect['searchTop5Has']);
  const [server, tool] = wanted.split('.') as [string, string];
  const others = Array.from({ length: Number(input['tools']) - 1 }, (_, at) => toolNamed(`other_${at}`));
  await using billing = await startRawServer({
    'tools/list': () => ({ tools: [toolNamed(tool, { inputSchema: schema }), ...others] }),
    'tools/call': () => ({ content: [{ type: 'text', text: 'called' }] }),
  });
  await using served = await startServed({ [server]: { url: billing.url } });
  await served.servers.ready();

  const call = (name: string, args: object): Promise<Outcome> =>
    served.gantry.invoker.invoke({ name, arguments: JSON.stringify(args) }, context);
  const typed = `${server}__${tool}`;
  const outcomes: Outcome[] = [];
  let found = '';
  for (const step of listOf(input['script'])) {
    // What the window holds is the model's business: nothing here depends on it.
    if (isObject(step) && step['event'] === 'history compacted') continue;
    const says = isObject(step) ? asText(step['model']) : '';
    const [, query] = /^search '(.+)'$/.exec(says) ?? [];
    if (query !== undefined) found = outcomeText(await call('mcp_find_tools', { query, limit: 5 }));
    else if (says.includes('wrong keys')) outcomes.push(await call(typed, wrongKeys));
    else if (says.includes(wanted) || says.includes('right keys')) outcomes.push(await call(typed, rightKeys));
    else if (/^call \S+$/.test(says)) outcomes.push(await call(says.slice('call '.length).replace('.', '__'), {}));
    else throw new NotCovered(`the step ${shown(step)} cannot be read`);
  }
  const [first, second, later, missing] = outcomes;
  return [
    ...unless(found.includes(`"${typed}"`), `expected ${typed} among the first five`, found),
    ...wrongOutcome('the first call', first, expect['firstCall']),
    ...wrongOutcome('the second call', second, expect['secondCall']),
    ...wrongOutcome('the call after compaction', later, expect['afterCompaction']),
    ...wrongOutcome('the call of no tool', missing, expect['noSuch']),
  ];
};

const wrongOutcome = (subject: string, outcome: Outcome | undefined, expected: unknown): string[] => {
  if (!outcome) return [`${subject} was not made`];
  const text = outcomeText(outcome);
  if (expected === 'success') return unless(outcome.status === 'done', `${subject}: expected success`, text);
  if (!isObject(expected)) throw new NotCovered(`${shown(expected)} cannot be read`);
  refuseUnread(expected, subject, ['isError', 'mentionsSchema', 'mentions']);
  return [
    ...unless((outcome.status === 'failed') === expected['isError'], `${subject}: expected an error`, text),
    ...(expected['mentionsSchema'] === true ? unmentioned(subject, text, Object.keys(schema.properties)) : []),
    ...unmentioned(subject, text, expected['mentions']),
  ];
};
