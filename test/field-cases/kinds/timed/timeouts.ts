import type { Play } from '../../../fixtures/stdio-player.ts';
import { isObject } from '../../../../packages/gantry/src/kernel/json.ts';
import { shown, unless } from '../../lib/compare.ts';
import { callAsModel } from '../../lib/local-gantry.ts';
import { asText, listOf, rowsOf } from '../../lib/read-cases.ts';
import { startServed } from '../../lib/served-gantry.ts';
import { askSeen, playerEntry } from '../../lib/stdio-player.ts';
import type { Handler } from '../../lib/verdict.ts';
import { NotCovered, refuseUnread } from '../../lib/verdict.ts';

/** Calls that report progress or do not, all at once → which end well and which time out when. */
export const timeouts: Handler = async (fieldCase) => {
  const { input, expect } = fieldCase;
  refuseUnread(input, 'the input', ['requestTimeoutMs', 'maxTotalMs', 'rows']);
  refuseUnread(expect, 'the expectation', ['outcomes', 'cancelSentOnTimeout']);
  const rows = rowsOf(fieldCase);
  const plays = Object.fromEntries(rows.map((row, index) => [`row${index}`, toPlay(row)]));
  await using served = await startServed(
    { field: playerEntry({ plays }) },
    { defaultTimeoutMs: numberIn(input, 'requestTimeoutMs'), maxTimeoutMs: numberIn(input, 'maxTotalMs') },
  );
  await served.servers.ready();
  const wanted = listOf(expect['outcomes']);
  const problems = await Promise.all(
    rows.map(async (_row, index) => {
      const startedMs = performance.now();
      const facts = await callAsModel(served.gantry, { name: `field__row${index}`, arguments: {} }, []);
      return wrongEnd(`row ${index}`, asText(wanted[index]), facts, performance.now() - startedMs);
    }),
  );
  if (expect['cancelSentOnTimeout'] === undefined) return problems.flat();
  const { seen } = await askSeen(served, 'field');
  const late = seen.filter(
    ({ params }) =>
      /^row\d+$/.test(params?.name ?? '') && asText(wanted[Number(params?.name?.slice(3))]).startsWith('timeout'),
  );
  const cancelled = seen
    .filter(({ method }) => method === 'notifications/cancelled')
    .map(({ params }) => params?.requestId);
  const isTold = late.every(({ id }) => cancelled.includes(id));
  return [
    ...problems.flat(),
    ...unless(isTold === expect['cancelSentOnTimeout'], 'expected notifications/cancelled', cancelled),
  ];
};

const toPlay = (row: unknown): Play => {
  if (!isObject(row)) throw new NotCovered('a row is no object');
  refuseUnread(row, 'a row', ['progressEveryMs', 'resultAtMs', 'progressToken']);
  const { progressEveryMs, resultAtMs, progressToken } = row;
  return {
    progressEveryMs: progressEveryMs as number | null | undefined,
    progressToken: progressToken as string | undefined,
    answers: typeof resultAtMs === 'number' ? [{ atMs: resultAtMs, as: 'result' }] : [],
  };
};

const numberIn = (input: Readonly<Record<string, unknown>>, key: string): number | undefined =>
  typeof input[key] === 'number' ? input[key] : undefined;

/** "About" leaves room for a busy machine; earlier than nine tenths is never right. */
const wrongEnd = (
  subject: string,
  expected: string,
  facts: { isError: boolean; text: string },
  tookMs: number,
): string[] => {
  if (expected === 'success') return unless(!facts.isError, `${subject}: expected success`, facts.text);
  const about = /^timeout(?: at about (\d+))?$/.exec(expected);
  if (!about) throw new NotCovered(`the outcome ${shown(expected)} cannot be read`);
  const timedOut = facts.isError && /within \d+ ms/.test(facts.text);
  const ms = Number(about[1] ?? Number.NaN);
  const isInTime = Number.isNaN(ms) || (tookMs >= ms * 0.9 && tookMs <= ms * 1.5 + 500);
  return [
    ...unless(timedOut, `${subject}: expected a timeout`, facts.text),
    ...unless(isInTime, `${subject}: expected an end at about ${ms} ms`, Math.round(tookMs)),
  ];
};
