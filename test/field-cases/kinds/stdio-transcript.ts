import type { Plan } from '../../fixtures/stdio-player.ts';
import { isObject, parseJson } from '../../../packages/gantry/src/kernel/json.ts';
import { differences, outOfRange, unless, unmentioned } from '../lib/compare.ts';
import { asText, textsOf } from '../lib/read-cases.ts';
import type { ServedGantry } from '../lib/served-gantry.ts';
import { startServed } from '../lib/served-gantry.ts';
import type { Seen } from '../lib/stdio-player.ts';
import { askSeen, playerEntry } from '../lib/stdio-player.ts';
import type { Handler } from '../lib/verdict.ts';
import { NotCovered, refuseUnread } from '../lib/verdict.ts';

/** Lines and notices of a program → state and calls. */
export const stdioTranscript: Handler = async ({ input, expect }) => {
  refuseUnread(input, 'the input', ['stdoutLines', 'stderrLines', 'notifications', 'toolsListMs']);
  refuseUnread(expect, 'the expectation', Object.keys(judges));
  const stdoutLines = textsOf(input['stdoutLines']);
  const storm = isObject(input['notifications']) ? (input['notifications'] as unknown as Plan['storm']) : undefined;
  if (storm && storm.method !== 'notifications/tools/list_changed') throw new NotCovered(`notices of ${storm.method}`);
  const plan: Plan = {
    stdoutLines,
    stderrLines: textsOf(input['stderrLines']),
    toolsListMs: input['toolsListMs'] as number | undefined,
    storm: storm && { ...storm, variants: storm.variants ?? [{}] },
  };
  const name = nameIn(stdoutLines);
  await using served = await startServed({ [name]: playerEntry(plan) });
  await served.servers.ready();
  let listings = 0;
  let isFresh = true;
  let seen: Seen | undefined;
  if (storm) {
    const before = await askSeen(served, name);
    await served.gantry.call(`${name}__storm`);
    // The tool that came with the last notice.
    isFresh = await within(served.untilTool(`added${storm.count}`), storm.withinMs + 20_000);
    seen = await askSeen(served, name);
    listings = seen.listings - before.listings;
  }
  const played: Played = { name, served, listings, isFresh, mostParallel: seen?.mostParallel ?? 0 };
  return Object.entries(judges).flatMap(([key, judge]) => (key in expect ? judge(expect[key], played) : []));
};

interface Played {
  readonly name: string;
  readonly served: ServedGantry;
  readonly listings: number;
  readonly isFresh: boolean;
  readonly mostParallel: number;
}

const judges: Readonly<Record<string, (expected: unknown, played: Played) => string[]>> = {
  connected: (expected, { served, name }) =>
    differences('connected', served.status(name).state === 'connected', expected),
  ignoredStdoutLines: (expected, { served }) => {
    const skipped = served.log.map(({ facts }) => facts['skipped']).filter((count) => typeof count === 'number');
    return differences('ignored lines', Math.max(0, ...skipped), expected);
  },
  // What ignoredStdoutLines says already.
  blankLinesCounted: (expected) => {
    if (expected !== false) throw new NotCovered('blank lines are never counted');
    return [];
  },
  logMentions: (expected, { served }) => {
    const warnings = served.log
      .filter(({ level }) => level === 'warn' || level === 'error')
      .map(({ message }) => message);
    const best = warnings
      .map((message) => unmentioned('log', message, expected))
      .toSorted((a, b) => a.length - b.length);
    return best[0] ?? [`expected a warning, came none`];
  },
  stderrIs: (expected, { served, name }) => {
    if (!/^log text\b/.test(asText(expected))) throw new NotCovered(`"${asText(expected)}" cannot be read`);
    const errors = served.log.filter(({ level }) => level === 'error').map(({ message }) => message);
    return unless(errors.length === 0 && served.status(name).lastError === undefined, 'expected no error', errors);
  },
  toolsListCalls: (expected, { listings }) => outOfRange('listings', listings, expected),
  finalListIsFresh: (expected, { isFresh }) => differences('the last list is fresh', isFresh, expected),
  parallelListCalls: (expected, { mostParallel }) => outOfRange('listings at once', mostParallel, expected),
};

/** The name that the server gives itself in its answer, so that what is logged can be told from its name. */
const nameIn = (lines: readonly string[]): string => {
  for (const line of lines) {
    const parsed = parseJson(line);
    const result = parsed.ok && isObject(parsed.value) ? parsed.value['result'] : undefined;
    const info = isObject(result) ? result['serverInfo'] : undefined;
    if (isObject(info) && typeof info['name'] === 'string') return info['name'];
  }
  return 'field';
};

/** Whether a promise settles in time. */
const within = (promise: Promise<void>, ms: number): Promise<boolean> =>
  Promise.race([
    promise.then(() => true),
    new Promise<boolean>((resolve) => void setTimeout(() => resolve(false), ms).unref()),
  ]);
