import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { delay } from '../kernel/abort.ts';
import type { Clock } from '../kernel/clock.ts';
import { silentLog } from '../kernel/log.ts';
import { openSqliteStore } from '../store/sqlite/open-sqlite-store.ts';
import type { Store } from '../store/store.ts';
import type { FakeClock } from '../testing/fake-clock.ts';
import { fakeClock } from '../testing/fake-clock.ts';
import { testKeyring } from '../testing/test-keyring.ts';
import type { RunAction, RunResult, TaskRun } from './run-action.ts';
import type { Scheduler, SchedulerOptions } from './scheduler.ts';
import { createScheduler } from './scheduler.ts';

const secondMs = 1000;
const minuteMs = 60_000;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

let clock: FakeClock;
let folder: string;
let open: (Scheduler | Store)[];
beforeEach(() => {
  clock = fakeClock(Date.parse('2026-06-01T00:00:00Z'));
  folder = mkdtempSync(join(tmpdir(), 'gantry-schedule-'));
  open = [];
});
afterEach(async () => {
  for (const one of open.reverse()) await one[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

const openStore = async (path = ':memory:'): Promise<Store> => {
  const store = await openSqliteStore({ path, clock, keyring: testKeyring('k1'), log: silentLog });
  open.push(store);
  return store;
};

/** A scheduler whose runs are written down and end as `result` says. */
const make = async (
  store: Store,
  result: (run: TaskRun) => RunResult | Promise<RunResult> = () => ({ status: 'done', text: 'ok' }),
  options: Partial<SchedulerOptions> = {},
): Promise<{ scheduler: Scheduler; starts: string[]; runs: TaskRun[] }> => {
  const starts: string[] = [];
  const runs: TaskRun[] = [];
  const act: RunAction = async (run) => {
    starts.push(isoOf(clock.nowMs()));
    runs.push(run);
    return result(run);
  };
  const scheduler = createScheduler({
    store,
    clock,
    log: silentLog,
    act,
    timeZone: 'UTC',
    leaseTtlMs: hourMs,
    ...options,
  });
  open.push(scheduler);
  return { scheduler, starts, runs };
};
const started = async (...args: Parameters<typeof make>) => {
  const made = await make(...args);
  made.scheduler.start();
  await clock.advance(0);
  return made;
};
const isoOf = (timeMs: number): string => new Date(timeMs).toISOString().replace('.000Z', 'Z');
const task = { name: 'report', description: 'Write the report.' };
const statuses = async (scheduler: Scheduler, name = 'report'): Promise<string[]> =>
  (await scheduler.history(name)).map(({ status }) => status);
const nextOf = async (scheduler: Scheduler): Promise<string | undefined> => {
  const nextRunMs = (await scheduler.get('report'))?.nextRunMs;
  return nextRunMs === undefined ? undefined : isoOf(nextRunMs);
};

describe('running what is due', () => {
  it('runs a recurring task at each of its times, to the second', async () => {
    const { scheduler, starts } = await started(await openStore());
    await scheduler.add({ ...task, cron: '30 0 * * * *' });
    await clock.advance(3 * hourMs);
    expect(starts).toEqual(['2026-06-01T00:00:30Z', '2026-06-01T01:00:30Z', '2026-06-01T02:00:30Z']);
    expect(await statuses(scheduler)).toEqual(['done', 'done', 'done']);
    expect((await scheduler.get('report'))?.lastFiredAtMs).toBe(Date.parse('2026-06-01T02:00:30Z'));
  });

  it('gives the run its task, its own session and its time', async () => {
    const { scheduler, runs } = await started(await openStore());
    await scheduler.add({ ...task, at: '2026-06-01T00:01:00' });
    await scheduler.add({ ...task, at: '2026-06-01T00:01:00', workspace: 'guild' });
    await clock.advance(minuteMs);
    const scheduledAtMs = Date.parse('2026-06-01T00:01:00Z');
    const shared = { taskName: 'report', description: 'Write the report.', isSystemTask: false, scheduledAtMs };
    expect(runs.sort((a, b) => b.namespace.length - a.namespace.length)).toMatchObject([
      { ...shared, namespace: 'patrol/guild/report', workspace: 'guild' },
      { ...shared, namespace: 'patrol/report' },
    ]);
  });

  it('runs a task once and removes it, and keeps how it ended', async () => {
    const { scheduler, starts } = await started(await openStore());
    await scheduler.add({ ...task, cron: '30 0 0 1 6 *', runOnce: true });
    await clock.advance(2 * minuteMs);
    expect(starts).toEqual(['2026-06-01T00:00:30Z']);
    expect(await scheduler.list()).toEqual([]);
    expect(await statuses(scheduler)).toEqual(['done']);
  });

  it('runs a task that is 60 days ahead on time', async () => {
    const { scheduler, starts } = await started(await openStore());
    await scheduler.add({ ...task, at: '2026-07-31T00:00:00' });
    await scheduler.add({ ...task, name: 'monthly', cron: '0 0 1 * *' });
    await clock.advance(minuteMs);
    expect(starts).toEqual([]);
    await clock.advance(60 * dayMs - minuteMs - 1);
    expect(starts).toEqual(['2026-07-01T00:00:00Z']);
    await clock.advance(1);
    expect(starts).toEqual(['2026-07-01T00:00:00Z', '2026-07-31T00:00:00Z']);
  });

  it('keeps one timer however many tasks there are', async () => {
    const { scheduler } = await started(await openStore());
    for (let number = 0; number < 50; number += 1)
      await scheduler.add({ ...task, name: `t${number}`, cron: `${number} * * * *` });
    await clock.advance(0);
    expect(clock.pendingTimers).toBe(1);
  });

  it('runs not more tasks at a time than allowed, and all of them in the end', async () => {
    let running = 0;
    let most = 0;
    const { scheduler, runs } = await started(
      await openStore(),
      async ({ signal }) => {
        running += 1;
        most = Math.max(most, running);
        await delay(clock, 10 * minuteMs, signal);
        running -= 1;
        return { status: 'done', text: 'ok' };
      },
      { maxParallelRuns: 2 },
    );
    for (let number = 0; number < 7; number += 1)
      await scheduler.add({ ...task, name: `t${number}`, at: '2026-06-01T01:00:00' });
    await clock.advance(2 * hourMs);
    expect(most).toBe(2);
    expect(runs).toHaveLength(7);
    expect(await scheduler.list()).toEqual([]);
  });

  it('goes on after a run that failed: a recurring task is moved, one that runs once is removed', async () => {
    const { scheduler, starts } = await started(await openStore(), () => ({ status: 'failed', text: 'broken' }));
    await scheduler.add({ ...task, cron: '0 * * * *' });
    await scheduler.add({ ...task, name: 'once', at: '2026-06-01T00:30:00' });
    await clock.advance(2 * hourMs);
    expect(starts).toHaveLength(3);
    expect((await scheduler.list()).map(({ name }) => name)).toEqual(['report']);
    expect(await scheduler.history('once')).toMatchObject([{ status: 'failed', text: 'broken' }]);
    expect((await scheduler.get('report'))?.lastFiredAtMs).toBe(clock.nowMs());
  });

  it('keeps the last 20 lines of history', async () => {
    const { scheduler } = await started(await openStore());
    await scheduler.add({ ...task, cron: '* * * * *' });
    await clock.advance(30 * minuteMs);
    const history = await scheduler.history('REPORT');
    expect(history).toHaveLength(20);
    expect(history.at(-1)?.scheduledAtMs).toBe(clock.nowMs());
  });
});

describe('changing the schedule', () => {
  it('replaces a task whose name differs in case only', async () => {
    const { scheduler, starts } = await started(await openStore());
    await scheduler.add({ ...task, cron: '*/10 * * * *' });
    await clock.advance(10 * minuteMs);
    const { replaced } = await scheduler.add({ ...task, name: 'Report', cron: '0 * * * *' });
    expect(replaced).toBe(true);
    expect(await scheduler.list()).toMatchObject([{ name: 'Report', createdAtMs: clock.nowMs() }]);
    expect((await scheduler.get('report'))?.lastFiredAtMs).toBeUndefined();
    await clock.advance(hourMs);
    expect(starts).toEqual(['2026-06-01T00:10:00Z', '2026-06-01T01:00:00Z']);
  });

  it('says whether there was a task to cancel', async () => {
    const { scheduler, starts } = await started(await openStore());
    await scheduler.add({ ...task, cron: '* * * * *' });
    expect(await scheduler.cancel('REPORT')).toBe(true);
    expect(await scheduler.cancel('report')).toBe(false);
    await clock.advance(hourMs);
    expect(starts).toEqual([]);
  });

  it('does not bring back a task that is cancelled in the middle of its run', async () => {
    const { scheduler, starts } = await started(await openStore(), slow(90 * secondMs));
    await scheduler.add({ ...task, cron: '* * * * *' });
    await clock.advance(70 * secondMs);
    await scheduler.cancel('report');
    await clock.advance(hourMs);
    expect(starts).toHaveLength(1);
    expect(await scheduler.list()).toEqual([]);
    expect(await statuses(scheduler)).toEqual(['done']);
  });

  it('keeps the new task when one is cancelled and made again in the middle of its run', async () => {
    const { scheduler, starts } = await started(await openStore(), slow(90 * secondMs));
    await scheduler.add({ ...task, cron: '* * * * *', runOnce: true });
    await clock.advance(70 * secondMs);
    await scheduler.cancel('report');
    await scheduler.add({ ...task, cron: '0 12 * * *' });
    await scheduler.add({ ...task, cron: '0 13 * * *' });
    await clock.advance(hourMs);
    expect(starts).toHaveLength(1);
    expect(await nextOf(scheduler)).toBe('2026-06-01T13:00:00Z');
    await clock.advance(13 * hourMs);
    expect(starts).toHaveLength(2);
  });

  it('keeps tasks of workspaces apart', async () => {
    const { scheduler } = await started(await openStore());
    await scheduler.add({ ...task, cron: '0 9 * * *', workspace: 'a' });
    await scheduler.add({ ...task, cron: '0 9 * * *', workspace: 'b' });
    expect(await scheduler.cancel('report')).toBe(false);
    expect(await scheduler.cancel('report', { workspace: 'a' })).toBe(true);
    expect(await scheduler.list({ workspace: 'a' })).toEqual([]);
    expect(await scheduler.list()).toMatchObject([{ workspace: 'b' }]);
  });

  it('moves the next runs when the zone of the agent changes, except of tasks with their own', async () => {
    const store = await openStore();
    const { scheduler, starts } = await started(store);
    await scheduler.add({ ...task, cron: '0 9 * * *' });
    await scheduler.add({ ...task, name: 'own', cron: '0 9 * * *', timeZone: 'UTC' });
    await scheduler.setTimeZone('America/New_York');
    expect(await nextOf(scheduler)).toBe('2026-06-01T13:00:00Z');
    await clock.advance(10 * hourMs);
    expect(starts).toEqual(['2026-06-01T09:00:00Z']);
    await clock.advance(4 * hourMs);
    expect(starts).toEqual(['2026-06-01T09:00:00Z', '2026-06-01T13:00:00Z']);
    await expect(scheduler.setTimeZone('Mars/Base')).rejects.toMatchObject({ code: 'invalid_arguments' });
    const { scheduler: again } = await make(store);
    expect(await again.timeZone()).toBe('America/New_York');
  });

  it('moves all of very many tasks, also when the zone changed while nothing ran', async () => {
    const store = await openStore();
    const { scheduler } = await make(store);
    const count = 1203;
    await Promise.all(
      Array.from({ length: count }, (_, number) => scheduler.add({ ...task, name: `t${number}`, cron: '0 9 * * *' })),
    );
    const { scheduler: moved, starts } = await make(store, undefined, {
      timeZone: 'America/New_York',
      maxParallelRuns: 100,
    });
    moved.start();
    await clock.advance(10 * hourMs);
    expect(starts).toEqual([]);
    await clock.advance(4 * hourMs);
    expect(starts).toHaveLength(count);
  });

  it('ignores a configured zone that does not exist', async () => {
    const { scheduler } = await make(await openStore(), undefined, { timeZone: 'Mars/Base' });
    expect(await scheduler.timeZone()).toBe(new Intl.DateTimeFormat().resolvedOptions().timeZone);
  });
});

describe('an owner that is hard pressed', () => {
  it('keeps the schedule while many runs end one after the other', async () => {
    const options = { maxParallelRuns: 1, leaseTtlMs: 30 * secondMs };
    const { scheduler, runs } = await started(await openStore(), slow(secondMs), options);
    for (let number = 0; number < 90; number += 1)
      await scheduler.add({ ...task, name: `t${number}`, at: '2026-06-01T00:01:00' });
    await clock.advance(3 * minuteMs);
    expect(runs).toHaveLength(90);
    for (let number = 0; number < 90; number += 1) expect(await statuses(scheduler, `t${number}`)).toEqual(['done']);
    expect(await scheduler.list()).toEqual([]);
  });

  it('runs everything of a moment that has far more than it reads ahead, and calls none of it missed', async () => {
    const options = { maxParallelRuns: 2, leaseTtlMs: 30 * secondMs };
    const { scheduler, runs } = await started(await openStore(), slow(2 * secondMs), options);
    const names = Array.from({ length: 300 }, (_, number) => `t${number}`);
    await Promise.all(names.map((name) => scheduler.add({ ...task, name, cron: '0 6 * * *' })));
    await scheduler.add({ ...task, name: 'between', at: '2026-06-01T06:01:00' });
    await clock.advance(7 * hourMs);
    expect(runs).toHaveLength(301);
    expect(runs.every(({ note }) => note === undefined)).toBe(true);
    for (const name of [...names.slice(0, 3), ...names.slice(-3), 'between'])
      expect(await statuses(scheduler, name)).toEqual(['done']);
  });

  it('reads a few of the tasks however many there are', async () => {
    const store = await openStore();
    const asked: number[] = [];
    const counted = (documents: ReturnType<typeof store.documents>): typeof documents => ({
      ...documents,
      list: () => Promise.reject(new Error('reads everything')),
      earliest: (limit) => {
        asked.push(limit);
        return documents.earliest(limit);
      },
    });
    // Nothing has to be moved in a store whose times are all of this zone.
    await store.documents('schedule-settings').put('zone-of-times', 'UTC');
    const { scheduler, starts } = await started({
      ...store,
      withLease: (lease) => {
        const shapes = store.withLease(lease);
        return {
          ...shapes,
          documents: <T>(name: string) => counted(shapes.documents(name)) as ReturnType<typeof shapes.documents<T>>,
        };
      },
    });
    for (let number = 0; number < 200; number += 1)
      await scheduler.add({ ...task, name: `t${number}`, cron: `0 ${number % 24} * * *` });
    await clock.advance(90 * minuteMs);
    expect(starts).toHaveLength(9);
    expect(Math.max(...asked)).toBeLessThan(100);
  });

  it('goes on when the store could not be used for a while', async () => {
    const store = await openStore();
    let isBroken = true;
    const acquire: Store['leases']['acquire'] = (...args) =>
      isBroken ? Promise.reject(new Error('disk full')) : store.leases.acquire(...args);
    const options = { leaseTtlMs: 30 * secondMs };
    const { scheduler, starts } = await started({ ...store, leases: { ...store.leases, acquire } }, undefined, options);
    await scheduler.add({ ...task, cron: '0 * * * *' });
    await clock.advance(90 * minuteMs);
    expect(starts).toEqual([]);
    isBroken = false;
    await clock.advance(90 * minuteMs);
    expect(starts).toEqual(['2026-06-01T02:00:00Z', '2026-06-01T03:00:00Z']);
  });

  it('does not repeat a run whose end could not be written', async () => {
    const store = await openStore();
    let puts = 0;
    const { scheduler, starts } = await started({
      ...store,
      withLease: (lease) => {
        const shapes = store.withLease(lease);
        return {
          ...shapes,
          documents: <T>(collection: string) => {
            const documents = shapes.documents<T>(collection);
            const put: typeof documents.put = async (...args) => {
              if (collection === 'schedule') puts += 1;
              if (collection === 'schedule' && puts === 2) throw new Error('disk full');
              return documents.put(...args);
            };
            return { ...documents, put };
          },
        };
      },
    });
    await scheduler.add({ ...task, cron: '0 * * * *' });
    await clock.advance(3 * hourMs);
    expect(starts).toEqual(['2026-06-01T01:00:00Z', '2026-06-01T02:00:00Z', '2026-06-01T03:00:00Z']);
    // The result came before the failure to move the task on; the new look at the store closes the run.
    expect(await statuses(scheduler)).toEqual(['done', 'interrupted', 'done', 'done']);
  });

  it('stops a run when it is disposed, and does not repeat it', async () => {
    const store = await openStore();
    const { scheduler, runs } = await started(store, slow(hourMs));
    await scheduler.add({ ...task, at: '2026-06-01T00:01:00' });
    await clock.advance(2 * minuteMs);
    await scheduler[Symbol.asyncDispose]();
    expect(runs[0]?.signal.aborted).toBe(true);
    const after = await started(store);
    await clock.advance(hourMs);
    expect(after.starts).toEqual([]);
    expect(await statuses(after.scheduler)).toEqual(['interrupted']);
  });
});

describe('a run that goes on', () => {
  it('shows a task that runs as running', async () => {
    const { scheduler } = await started(await openStore(), slow(minuteMs));
    await scheduler.add({ ...task, cron: '* * * * *' });
    await clock.advance(70 * secondMs);
    expect(await scheduler.get('report')).toMatchObject({ isRunning: true });
  });
});

describe('an agent that is busy', () => {
  it('tries again every two minutes and leaves the last run as it was meanwhile', async () => {
    let isBusy = true;
    const { scheduler, starts } = await started(await openStore(), () =>
      isBusy ? { status: 'busy' } : { status: 'done', text: 'ok' },
    );
    await scheduler.add({ ...task, cron: '0 * * * *' });
    await clock.advance(hourMs + 5 * minuteMs);
    expect(starts.map((at) => at.slice(11, 16))).toEqual(['01:00', '01:02', '01:04']);
    expect((await scheduler.get('report'))?.lastFiredAtMs).toBeUndefined();
    isBusy = false;
    await clock.advance(minuteMs);
    expect(await scheduler.history('report')).toMatchObject([
      { status: 'done', scheduledAtMs: Date.parse('2026-06-01T01:00:00Z') },
    ]);
    expect(await nextOf(scheduler)).toBe('2026-06-01T02:00:00Z');
  });

  it('waits for the next natural time after 15 more tries', async () => {
    const { scheduler, starts } = await started(await openStore(), () => ({ status: 'busy' }));
    await scheduler.add({ ...task, cron: '0 * * * *' });
    await clock.advance(2 * hourMs - 1);
    expect(starts).toHaveLength(16);
    expect(starts.at(-1)).toBe('2026-06-01T01:30:00Z');
    expect(await statuses(scheduler)).toEqual(['busy']);
    expect(await nextOf(scheduler)).toBe('2026-06-01T02:00:00Z');
    expect((await scheduler.get('report'))?.lastFiredAtMs).toBeUndefined();
  });
});

describe('runs that were missed', () => {
  it.each([
    [23 * hourMs, ['done']],
    [26 * hourMs, ['missed']],
  ])('runs a task that runs once if it is less than a day late (down for %i ms)', async (downMs, wanted) => {
    const store = await openStore();
    const { scheduler: before } = await make(store);
    await before.add({ ...task, cron: '0 30 0 1 6 *', runOnce: true });
    await clock.advance(downMs);
    const { scheduler, runs } = await started(store);
    expect(await statuses(scheduler)).toEqual(wanted);
    expect(await scheduler.list()).toEqual([]);
    for (const { note } of runs) expect(note).toContain('was due at 2026-06-01 00:30:00 (UTC)');
  });

  it('keeps a task over a restart', async () => {
    const store = await openStore();
    const before = await started(store);
    await before.scheduler.add({ ...task, cron: '30 0 0 1 6 *', runOnce: true });
    await clock.advance(5 * secondMs);
    await before.scheduler[Symbol.asyncDispose]();
    const { starts } = await started(store);
    await clock.advance(minuteMs);
    expect(starts).toEqual(['2026-06-01T00:00:30Z']);
    expect(before.starts).toEqual([]);
  });
});

describe('two processes on one store', () => {
  const shortLease = { leaseTtlMs: 30 * secondMs };
  const pair = async (result?: Parameters<typeof make>[1]) => {
    const one = await started(await openStore(join(folder, 'store.db')), result, shortLease);
    const two = await started(await openStore(join(folder, 'store.db')), result, shortLease);
    return [one, two] as const;
  };

  it('lets one of them act, also on what the other schedules', async () => {
    const [one, two] = await pair();
    await two.scheduler.add({ ...task, cron: '* * * * *' });
    await clock.advance(5 * minuteMs);
    expect(one.starts).toHaveLength(5);
    expect(two.starts).toEqual([]);
    expect(await two.scheduler.history('report')).toHaveLength(5);
    await two.scheduler.cancel('report');
    await clock.advance(5 * minuteMs);
    expect(one.starts).toHaveLength(5);
  });

  it('lets the other take over at once when one stops', async () => {
    const [one, two] = await pair();
    await one.scheduler.add({ ...task, cron: '* * * * *' });
    await clock.advance(3 * minuteMs);
    await one.scheduler[Symbol.asyncDispose]();
    await clock.advance(3 * minuteMs);
    expect([...one.starts, ...two.starts].map((at) => at.slice(14, 16))).toEqual(['01', '02', '03', '04', '05', '06']);
  });

  it('lets the other take over when one dies, without running anything twice', async () => {
    const storeOne = await openStore(join(folder, 'store.db'));
    const dying = frozenWhen(clock);
    const one = await started(storeOne, slow(10 * secondMs, dying.clock), { clock: dying.clock, ...shortLease });
    const two = await started(await openStore(join(folder, 'store.db')), slow(10 * secondMs), shortLease);
    await one.scheduler.add({ ...task, cron: '* * * * *' });
    await one.scheduler.add({ ...task, name: 'once', at: '2026-06-01T00:03:00' });
    await clock.advance(3 * minuteMs + 5 * secondMs);
    expect(one.starts).toHaveLength(4);
    dying.die();
    await clock.advance(3 * minuteMs);
    const all = [...one.runs, ...two.runs].map(({ taskName, scheduledAtMs }) => `${taskName} ${isoOf(scheduledAtMs)}`);
    expect(new Set(all).size).toBe(all.length);
    expect(two.starts.map((at) => at.slice(11, 19))).toEqual(['00:04:00', '00:05:00', '00:06:00']);
    expect(await statuses(two.scheduler)).toEqual(['done', 'done', 'interrupted', 'done', 'done']);
    expect(await statuses(two.scheduler, 'once')).toEqual(['interrupted']);
  });

  it('does not write what an owner did after it lost the schedule in its sleep', async () => {
    const storeOne = await openStore(join(folder, 'store.db'));
    const asleep = frozenWhen(clock);
    let end: (result: RunResult) => void = () => {};
    const one = await started(storeOne, () => new Promise((resolve) => (end = resolve)), {
      clock: asleep.clock,
      ...shortLease,
    });
    const two = await started(await openStore(join(folder, 'store.db')), undefined, shortLease);
    await one.scheduler.add({ ...task, at: '2026-06-01T00:01:00' });
    await one.scheduler.add({ ...task, name: 'later', at: '2026-06-01T00:02:00' });
    await clock.advance(minuteMs + secondMs);
    asleep.die();
    await clock.advance(2 * minuteMs);
    end({ status: 'done', text: 'too late' });
    asleep.wakeUp();
    await clock.advance(minuteMs);
    expect(one.starts).toEqual(['2026-06-01T00:01:00Z']);
    expect(two.starts).toEqual(['2026-06-01T00:02:00Z']);
    expect(await statuses(two.scheduler)).toEqual(['interrupted']);
    expect(await statuses(two.scheduler, 'later')).toEqual(['done']);
  });

  it('goes on with a task whose run it had lost, once it owns the schedule again', async () => {
    const asleep = frozenWhen(clock);
    let end: (result: RunResult) => void = () => {};
    let isFirst = true;
    const first = (): RunResult | Promise<RunResult> => {
      if (!isFirst) return { status: 'done', text: 'ok' };
      isFirst = false;
      return new Promise((resolve) => (end = resolve));
    };
    const one = await started(await openStore(join(folder, 'store.db')), first, { clock: asleep.clock, ...shortLease });
    const two = await started(await openStore(join(folder, 'store.db')), undefined, shortLease);
    await one.scheduler.add({ ...task, cron: '*/10 * * * *' });
    await clock.advance(10 * minuteMs);
    asleep.die();
    await clock.advance(minuteMs);
    await two.scheduler[Symbol.asyncDispose]();
    asleep.wakeUp();
    await clock.advance(minuteMs);
    end({ status: 'done', text: 'too late' });
    await clock.advance(9 * minuteMs);
    expect(one.starts).toEqual(['2026-06-01T00:10:00Z', '2026-06-01T00:20:00Z']);
    expect(two.starts).toEqual([]);
    expect(await statuses(one.scheduler)).toEqual(['interrupted', 'done']);
  });
});

/** A run that takes its time. */
const slow =
  (ms: number, on?: Clock) =>
  async ({ signal }: TaskRun): Promise<RunResult> => {
    await delay(on ?? clock, ms, signal);
    return { status: 'done', text: 'ok' };
  };

/** The clock of a process that can be stopped in its tracks: its timers do not fire while it sleeps. */
const frozenWhen = (inner: FakeClock) => {
  let isFrozen = false;
  let held: (() => void)[] = [];
  return {
    clock: {
      ...inner,
      nowMs: () => inner.nowMs(),
      startTimer: (delayMs: number, fire: () => void) =>
        inner.startTimer(delayMs, () => (isFrozen ? void held.push(fire) : fire())),
    },
    die: () => {
      isFrozen = true;
    },
    wakeUp: () => {
      isFrozen = false;
      const due = held;
      held = [];
      for (const fire of due) fire();
    },
  };
};
