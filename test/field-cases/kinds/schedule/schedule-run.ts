import { delay } from '../../../../packages/gantry/src/kernel/abort.ts';
import { fakeClock } from '../../../../packages/gantry/src/testing/fake-clock.ts';
import { differences } from '../../lib/compare.ts';
import { asText } from '../../lib/read-cases.ts';
import type { Handler } from '../../lib/verdict.ts';
import { refuseUnread } from '../../lib/verdict.ts';
import { isoOf } from './planned.ts';
import { openSchedule } from './run-schedule.ts';

/** A task and how long its runs take → when it runs, and what is left out. */
export const scheduleRun: Handler = async ({ input, expect }) => {
  refuseUnread(input, 'the input', ['cron', 'timeZone', 'now', 'start', 'until', 'runSeconds', 'policy']);
  const facts = ['starts', 'maxParallel', 'skippedRecorded', 'next', 'delayMs', 'runsInFirstMinute'];
  refuseUnread(expect, 'the expectation', facts);
  const { start, until, runSeconds = 0 } = input;
  // One second before, so that the first time is one of those that count.
  const clock = fakeClock(start === undefined ? Date.parse(asText(input['now'])) : Date.parse(asText(start)) - 1000);
  await using host = await openSchedule(clock);
  const starts: string[] = [];
  let parallel = 0;
  let maxParallel = 0;
  await using scheduler = await host.start(async ({ signal }) => {
    starts.push(isoOf(clock.nowMs()).slice(11, 19));
    parallel += 1;
    maxParallel = Math.max(maxParallel, parallel);
    await delay(clock, Number(runSeconds) * 1000, signal);
    parallel -= 1;
    return { status: 'done', text: 'ok' };
  });
  const { nextRunMs } = await scheduler.add({ name: 'task', description: 'Do it.', cron: asText(input['cron']) });
  const delayMs = nextRunMs - clock.nowMs();
  await clock.advance(60_000);
  const runsInFirstMinute = starts.length;
  if (until !== undefined) await clock.advance(Date.parse(asText(until)) - clock.nowMs());
  const records = await scheduler.history('task');
  const skippedRecorded = records
    .flatMap(({ skippedAtMs = [] }) => skippedAtMs)
    .map((atMs) => isoOf(atMs).slice(11, 16));
  const found: Record<string, unknown> = {
    starts,
    maxParallel,
    skippedRecorded,
    next: isoOf(nextRunMs),
    delayMs,
    runsInFirstMinute,
  };
  return Object.entries(expect).flatMap(([name, wanted]) => differences(name, found[name], wanted));
};
