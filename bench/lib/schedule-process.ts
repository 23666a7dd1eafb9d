/** `schedule-process.ts STORE`: a process that owns the schedule of a store, and tells its parent when and how late tasks run. */
import { systemClock as clock } from '../../packages/gantry/src/kernel/clock.ts';
import { silentLog as log } from '../../packages/gantry/src/kernel/log.ts';
import { createScheduler } from '../../packages/gantry/src/schedule/scheduler.ts';
import { openSqliteStore } from '../../packages/gantry/src/store/sqlite/open-sqlite-store.ts';
import { testKeyring } from '../../packages/gantry/src/testing/test-keyring.ts';

/** What the process tells: one line for each run. */
export interface RanMessage {
  readonly name: string;
  readonly lateMs: number;
}

if (process.send) {
  const [path] = process.argv.slice(2) as [string];
  const store = await openSqliteStore({ path, clock, keyring: testKeyring('bench'), log });
  const scheduler = createScheduler({
    store,
    clock,
    log,
    timeZone: 'UTC',
    act: async ({ taskName, scheduledAtMs }) => {
      process.send?.({ name: taskName, lateMs: clock.nowMs() - scheduledAtMs } satisfies RanMessage);
      return { status: 'done', text: 'ok' };
    },
  });
  scheduler.start();
  process.once('disconnect', () => {
    void scheduler[Symbol.asyncDispose]().then(() => store[Symbol.asyncDispose]());
  });
}
