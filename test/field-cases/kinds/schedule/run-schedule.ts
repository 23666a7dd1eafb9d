import { silentLog as log } from '../../../../packages/gantry/src/kernel/log.ts';
import type { RunAction } from '../../../../packages/gantry/src/schedule/run-action.ts';
import type { Scheduler } from '../../../../packages/gantry/src/schedule/scheduler.ts';
import { createScheduler } from '../../../../packages/gantry/src/schedule/scheduler.ts';
import { openSqliteStore } from '../../../../packages/gantry/src/store/sqlite/open-sqlite-store.ts';
import type { FakeClock } from '../../../../packages/gantry/src/testing/fake-clock.ts';
import { testKeyring } from '../../../../packages/gantry/src/testing/test-keyring.ts';

/** A store whose schedule can be started, stopped and started again, under a clock that is moved by hand. */
export interface ScheduleHost extends AsyncDisposable {
  start(act: RunAction): Promise<Scheduler>;
}

/** Opens an empty schedule in UTC. */
export const openSchedule = async (clock: FakeClock): Promise<ScheduleHost> => {
  const store = await openSqliteStore({ path: ':memory:', clock, keyring: testKeyring('k1'), log });
  return {
    start: async (act) => {
      const scheduler = createScheduler({ store, clock, log, act, timeZone: 'UTC' });
      scheduler.start();
      await clock.advance(0);
      return scheduler;
    },
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
};
