import type { Progress } from 'gantry';
import { isObject } from '../../../../packages/gantry/src/kernel/json.ts';
import { differences, isSame, unless } from '../../lib/compare.ts';
import { asText, listOf } from '../../lib/read-cases.ts';
import { startServed } from '../../lib/served-gantry.ts';
import { askSeen, playerEntry } from '../../lib/stdio-player.ts';
import type { Handler } from '../../lib/verdict.ts';
import { refuseUnread } from '../../lib/verdict.ts';

const tokenPath = 'params._meta.progressToken';

/** One call or two at a time that want progress → the tokens sent and the progress that each caller gets. */
export const progressTokens: Handler = async ({ input, expect }) => {
  refuseUnread(input, 'the input', ['call', 'callerWantsProgress', 'secondCallAtTheSameTime']);
  refuseUnread(expect, 'the expectation', ['request', 'callerGets', 'crossTalk']);
  const tool = isObject(input['call']) ? asText(input['call']['tool']) : 'long';
  const wanted = listOf(expect['callerGets']);
  const plays = { [tool]: { progressTimes: wanted.length, answers: [{ atMs: 100, as: 'result' as const }] } };
  await using served = await startServed({ field: playerEntry({ plays }) });
  await served.servers.ready();
  const callers = input['secondCallAtTheSameTime'] ? ['first', 'second'] : ['first'];
  const got = await Promise.all(
    callers.map(async (who) => {
      const progress: Progress[] = [];
      const onProgress = input['callerWantsProgress'] ? (one: Progress) => void progress.push(one) : undefined;
      await served.gantry.call(`field__${tool}`, { who }, { caller: 'model', onProgress });
      return progress;
    }),
  );
  const problems: string[] = [];
  for (const [index, progress] of got.entries()) {
    const who = callers[index];
    const crossed = progress.filter(({ message }) => message !== who);
    problems.push(...differences(`${who} caller: cross talk`, crossed.length > 0, expect['crossTalk'] ?? false));
    const read = progress.map((one, at) => pick(one, wanted[at]));
    problems.push(
      ...unless(isSame(read, wanted), `${who} caller: expected the progress ${JSON.stringify(wanted)}`, progress),
    );
  }
  if (!isObject(expect['request'])) return problems;
  refuseUnread(expect['request'], 'the expected request', [tokenPath]);
  const { seen } = await askSeen(served, 'field');
  const tokens = seen.filter(({ params }) => params?.name === tool).map(({ params }) => params?._meta?.progressToken);
  const areTokens = tokens.every((token) => typeof token === 'string' || Number.isInteger(token));
  return [
    ...problems,
    ...unless(areTokens, `expected ${tokenPath} to be a text or an integer`, tokens),
    ...unless(new Set(tokens).size === callers.length, 'expected different tokens', tokens),
  ];
};

const pick = (one: Progress, wanted: unknown): object =>
  Object.fromEntries(Object.entries(one).filter(([key]) => isObject(wanted) && key in wanted));
