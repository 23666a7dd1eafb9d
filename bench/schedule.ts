import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { systemClock as clock } from '../packages/gantry/src/kernel/clock.ts';
import { silentLog as log } from '../packages/gantry/src/kernel/log.ts';
import type { Scheduler } from '../packages/gantry/src/schedule/scheduler.ts';
import { createScheduler } from '../packages/gantry/src/schedule/scheduler.ts';
import { openSqliteStore } from '../packages/gantry/src/store/sqlite/open-sqlite-store.ts';
import { testKeyring } from '../packages/gantry/src/testing/test-keyring.ts';
import { memoryOf } from './lib/process.ts';
import type { RanMessage } from './lib/schedule-process.ts';
import { sequentially, show, showSpread } from './lib/stats.ts';

const sizes = [100, 100_000];
const rounds = 5;
const atOnce = 200;
const secondsOfRuns = 30;
// In the measured time a task is due every second.
const everySecond = { name: 'every-second', description: 'Measure.', cron: '* * * * * *' };

/**
 * A store with few and one with 100,000 daily tasks: adding them, what a process that owns the schedule needs to start and to hold
 * it, and how late its runs are.
 */
export const benchSchedule = async (): Promise<string[]> => {
  const folder = mkdtempSync(join(tmpdir(), 'gantry-bench-schedule-'));
  try {
    const lines = [
      '| tasks | adding, 200 at once | adding one more | from spawn to the first run | resident | late |',
      '|---|---|---|---|---|---|',
    ];
    for (const size of sizes) {
      const path = join(folder, `${size}.db`);
      const added = await fill(path, size);
      const starts: number[] = [];
      for (let round = 0; round < rounds; round += 1) starts.push((await own(path, 1)).firstMs);
      const { lateMs, rssMb } = await own(path, secondsOfRuns);
      const more = `${show(added.oneMore.p50)} ms`;
      lines.push(
        `| ${size.toLocaleString('en')} | ${show(added.perSecond)} a second | ${more} | ${showSpread(starts, 'ms')} | ${show(rssMb)} MB | ${showSpread(lateMs, 'ms')} |`,
      );
    }
    return lines;
  } finally {
    rmSync(folder, { recursive: true });
  }
};

const withScheduler = async <T>(path: string, work: (scheduler: Scheduler) => Promise<T>): Promise<T> => {
  await using store = await openSqliteStore({ path, clock, keyring: testKeyring('bench'), log });
  const act = () => Promise.reject(new Error('nothing runs here'));
  await using scheduler = createScheduler({ store, clock, log, act, timeZone: 'UTC' });
  return await work(scheduler);
};

const fill = (path: string, size: number) =>
  withScheduler(path, async (scheduler) => {
    const daily = (number: number) =>
      scheduler.add({
        name: `task-${number}`,
        description: 'Look at yesterday and write down what was remarkable.',
        // Not at a time at which the measurement itself is likely to run.
        cron: `${number % 60} ${(new Date().getUTCHours() + 2 + (number % 20)) % 24} * * *`,
      });
    const startedMs = performance.now();
    for (let number = 0; number < size; number += atOnce)
      await Promise.all(Array.from({ length: Math.min(atOnce, size - number) }, (_, index) => daily(number + index)));
    const perSecond = size / ((performance.now() - startedMs) / 1000);
    let next = size;
    const oneMore = await sequentially(() => daily((next += 1)), 100);
    await scheduler.add(everySecond);
    return { perSecond, oneMore };
  });

/** Starts a process that owns the schedule, and waits until a task has run so many times. */
const own = async (path: string, runs: number): Promise<{ firstMs: number; lateMs: number[]; rssMb: number }> => {
  const startedMs = performance.now();
  const child = fork(join(import.meta.dirname, 'lib/schedule-process.ts'), [path], {
    execArgv: ['--conditions=gantry-source'],
  });
  const lateMs: number[] = [];
  let firstMs = 0;
  const enough = Promise.withResolvers<void>();
  child.on('message', (message: RanMessage) => {
    if (message.name !== everySecond.name) return;
    firstMs ||= performance.now() - startedMs;
    lateMs.push(message.lateMs);
    if (lateMs.length >= runs) enough.resolve();
  });
  await enough.promise;
  const { rssMb } = memoryOf(child.pid as number);
  const ended = once(child, 'exit');
  child.disconnect();
  await ended;
  await pause(200);
  // The first is one that was due before the process was there.
  return { firstMs, lateMs: lateMs.slice(1), rssMb };
};
