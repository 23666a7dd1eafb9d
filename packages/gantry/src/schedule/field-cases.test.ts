import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { delay } from '../kernel/abort.ts';
import { silentLog } from '../kernel/log.ts';
import { openSqliteStore } from '../store/sqlite/open-sqlite-store.ts';
import type { FakeClock } from '../testing/fake-clock.ts';
import { fakeClock } from '../testing/fake-clock.ts';
import { testKeyring } from '../testing/test-keyring.ts';
import { parseCron } from './cron.ts';
import type { NewTask, TaskPlan } from './plan-task.ts';
import { planTask } from './plan-task.ts';
import type { RunAction } from './run-action.ts';
import type { Scheduler } from './scheduler.ts';
import { createScheduler } from './scheduler.ts';
import { formatTime } from './time-zone.ts';

interface FieldCase {
  readonly id: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly expect: Readonly<Record<string, unknown>>;
}
const { cases } = JSON.parse(
  readFileSync(new URL('../../../../test/data/field-cases/g-schedule.json', import.meta.url), 'utf8'),
) as { cases: readonly FieldCase[] };

const text = (one: FieldCase, key: string): string => String(one.input[key]);
const isoOf = (timeMs: number): string => new Date(timeMs).toISOString().replace('.000Z', 'Z');
const nextOf = (cron: string, zone: string, after: string, count: number): string[] => {
  const line = parseCron(cron, zone);
  const found: string[] = [];
  let atMs: number | undefined = Date.parse(after);
  while (found.length < count && atMs !== undefined) {
    atMs = line.nextAfter(atMs);
    if (atMs !== undefined) found.push(isoOf(atMs));
  }
  return found;
};
const planOf = (request: Partial<NewTask>, now: string, agentZone: string): TaskPlan =>
  planTask({ name: 'task', description: 'Do it.', ...request }, { nowMs: Date.parse(now), agentZone });
/** What `run` gives, or the message of its refusal. */
const orRefusal = <T>(run: () => T): T | string => {
  try {
    return run();
  } catch (error) {
    expect(error).toMatchObject({ code: 'invalid_arguments' });
    return `refused: ${(error as Error).message}`;
  }
};

const disposables: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of disposables.splice(0).reverse()) await one[Symbol.asyncDispose]();
});
const openStore = async (clock: FakeClock) => {
  const store = await openSqliteStore({ path: ':memory:', clock, keyring: testKeyring('k1'), log: silentLog });
  disposables.push(store);
  return store;
};
const start = async (
  clock: FakeClock,
  store: Awaited<ReturnType<typeof openStore>>,
  act: RunAction,
): Promise<Scheduler> => {
  const scheduler = createScheduler({ store, clock, log: silentLog, act, timeZone: 'UTC' });
  disposables.push(scheduler);
  scheduler.start();
  await clock.advance(0);
  return scheduler;
};
const done = { status: 'done', text: 'ok' } as const;

const checks: Readonly<Record<string, (one: FieldCase) => void | Promise<void>>> = {
  'g-step-with-start': (one) => {
    const refusal = orRefusal(() => nextOf(text(one, 'cron'), text(one, 'timeZone'), text(one, 'after'), 1));
    expect(refusal).toContain('a step needs "*" or a range before it');
  },
  'g-field-count': (one) => {
    const rows = one.input['rows'] as string[];
    const found = rows.map((cron) => orRefusal(() => nextOf(cron, text(one, 'timeZone'), text(one, 'after'), 1)[0]));
    expect(found.slice(0, 2)).toEqual(['2026-12-02T06:30:00Z', '2026-12-02T06:30:00Z']);
    for (const refusal of found.slice(2)) expect(refusal).toMatch(/^refused: .*5 fields/);
  },
  'g-impossible-date': (one) => {
    for (const cron of one.input['rows'] as string[])
      expect(orRefusal(() => planOf({ cron }, text(one, 'after'), text(one, 'timeZone')))).toMatch(/^refused: /);
  },
  'g-once-in-the-past': (one) => {
    const rows = one.input['rows'] as { at: string }[];
    const [past, pastLocal, timeOnly, future, noDate] = rows.map(({ at }) =>
      orRefusal(() => planOf({ at }, text(one, 'now'), text(one, 'timeZone')).nextRunMs),
    );
    for (const refusal of [past, pastLocal, timeOnly, noDate])
      expect(refusal).toMatch(/^refused: .*Now it is 2026-05-01 09:07:00 \(Europe\/Berlin/);
    expect(future).toBe(Date.parse('2026-05-01T09:08:00+02:00'));
  },
  'g-zone-shown-is-zone-used': (one) => {
    const rows = one.input['rows'] as { cron: string; timeZone?: string }[];
    const [kathmandu, mars, est, offset, unset] = rows.map((row) =>
      orRefusal(() => {
        const { nextRunMs, zone } = planOf(row, text(one, 'now'), text(one, 'hostZone'));
        return `${isoOf(nextRunMs)} ${formatTime(nextRunMs, zone)}`;
      }),
    );
    expect(kathmandu).toBe('2026-06-01T03:15:00Z 2026-06-01 09:00:00 (Asia/Kathmandu, UTC+05:45)');
    expect(mars).toMatch(/^refused: /);
    expect(est).toContain('2026-06-01T14:00:00Z');
    expect(offset).toMatch(/^refused: .*"\+02:00"/);
    expect(unset).toContain('(UTC)');
  },
  'g-missed-runs-after-downtime': async (one) => {
    const missedShown = one.expect['missedShown'];
    const wanted = { skip: one.expect['skip'], once: one.expect['run-once'] };
    for (const missed of ['skip', 'once'] as const) {
      const clock = fakeClock(Date.parse(text(one, 'lastRun')));
      const store = await openStore(clock);
      const starts: number[] = [];
      const act: RunAction = async () => {
        starts.push(clock.nowMs());
        return done;
      };
      const before = await start(clock, store, act);
      await before.add({ name: 'task', description: 'Do it.', cron: text(one, 'cron'), missed });
      await before[Symbol.asyncDispose]();
      await clock.advance(Date.parse(text(one, 'hostBackAt')) - clock.nowMs());
      const after = await start(clock, store, act);
      const next = isoOf((await after.get('task'))?.nextRunMs ?? 0);
      expect({ runsAtStart: starts.length, next }).toEqual(wanted[missed]);
      expect((await after.history('task')).map(({ missedCount }) => missedCount)).toEqual([missedShown]);
    }
  },
  'g-overlapping-runs': async (one) => {
    const clock = fakeClock(Date.parse(text(one, 'start')) - 1000);
    const starts: string[] = [];
    let parallel = 0;
    let maxParallel = 0;
    const scheduler = await start(clock, await openStore(clock), async ({ signal }) => {
      starts.push(isoOf(clock.nowMs()).slice(11, 19));
      parallel += 1;
      maxParallel = Math.max(maxParallel, parallel);
      await delay(clock, Number(one.input['runSeconds']) * 1000, signal);
      parallel -= 1;
      return done;
    });
    await scheduler.add({ name: 'task', description: 'Do it.', cron: text(one, 'cron') });
    await clock.advance(Date.parse(text(one, 'until')) - clock.nowMs());
    const skipped = (await scheduler.history('task')).flatMap(({ skippedAtMs = [] }) => skippedAtMs);
    const skippedRecorded = skipped.map((atMs) => isoOf(atMs).slice(11, 16));
    expect({ starts, maxParallel, skippedRecorded }).toEqual(one.expect);
  },
  'g-timer-longer-than-24-8-days': async (one) => {
    const clock = fakeClock(Date.parse(text(one, 'now')));
    let runsInFirstMinute = 0;
    const scheduler = await start(clock, await openStore(clock), async () => {
      runsInFirstMinute += 1;
      return done;
    });
    const { nextRunMs } = await scheduler.add({ name: 'task', description: 'Do it.', cron: text(one, 'cron') });
    const delayMs = nextRunMs - clock.nowMs();
    await clock.advance(60_000);
    expect({ next: isoOf(nextRunMs), delayMs, runsInFirstMinute }).toEqual(one.expect);
  },
};

/** The usual kind: a line and the times that it gives. */
const checkNext = (one: FieldCase): void => {
  const wanted = one.expect['next'] as readonly (string | readonly string[])[];
  const found = nextOf(text(one, 'cron'), text(one, 'timeZone'), text(one, 'after'), wanted.length);
  expect(found).toHaveLength(wanted.length);
  for (const [index, time] of wanted.entries()) expect([time].flat()).toContain(found[index]);
  for (const word of (one.expect['describeMentions'] ?? []) as string[])
    expect(planOf({ cron: text(one, 'cron') }, text(one, 'after'), 'UTC').notes.join(' ')).toContain(word);
};

describe('field cases of scheduling', () => {
  it('has all of them', () => expect(cases).toHaveLength(14));

  it.each(cases)('$id', (one) => (checks[one.id] ?? checkNext)(one));
});
