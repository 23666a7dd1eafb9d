import type { Log } from '../kernel/log.ts';
import type { Store } from '../store/store.ts';
import type { NewTask, TaskPlan } from './plan-task.ts';
import { nextOccurrence, planTask } from './plan-task.ts';
import type { ScheduleOwner } from './schedule-owner.ts';
import { createScheduleOwner } from './schedule-owner.ts';
import type { RunAction } from './run-action.ts';
import type { RunRecord, StoredTask, TaskView } from './scheduled-task.ts';
import { taskId } from './scheduled-task.ts';
import { scheduleShelf } from './schedule-shelf.ts';
import type { Clock } from '../kernel/clock.ts';
import { isTimeZone, parseTimeZone, systemTimeZone } from './time-zone.ts';

/** Whose tasks. */
export interface OfWorkspace {
  /** Absent: those of no workspace. */
  readonly workspace?: string | undefined;
}

/** What was scheduled. */
export interface AddedTask extends TaskPlan {
  /** A task of that name was there before and is gone. */
  readonly replaced: boolean;
}

/**
 * The schedule of a store. Every process may read and change it; one of them, the owner, runs what is due. Disposing stops the
 * runs of this process and lets another become the owner.
 */
export interface Scheduler extends AsyncDisposable {
  /** Begins to run what is due, as soon as no other process does. */
  start(): void;
  /**
   * Stores a task, in place of the one that has its name.
   * @throws {GantryError} `invalid_arguments`, with a message that says how it is done right.
   */
  add(request: NewTask): Promise<AddedTask>;
  /** Removes a task; false when there is none. A run that goes on is not stopped, but is the last. */
  cancel(name: string, of?: OfWorkspace): Promise<boolean>;
  get(name: string, of?: OfWorkspace): Promise<TaskView | undefined>;
  /** Everybody's, or those of one workspace; sorted by workspace, then name. */
  list(of?: OfWorkspace): Promise<TaskView[]>;
  /** The last runs of a task, oldest first; kept for 30 days, also when the task is gone. */
  history(name: string, of?: OfWorkspace): Promise<readonly RunRecord[]>;
  /** The agent's zone: the one that was set, else the configured one, else the machine's. */
  timeZone(): Promise<string>;
  /**
   * Sets the agent's zone, for tasks without one of their own; their next runs move.
   * @throws {GantryError} `invalid_arguments` when it does not exist.
   */
  setTimeZone(zone: string): Promise<void>;
}

/** What a scheduler is made of. */
export interface SchedulerOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly act: RunAction;
  /** The agent's zone unless one was set; an unknown one is ignored with a warning. Default the machine's. */
  readonly timeZone?: string | undefined;
  /** How many tasks run at the same time; default 4. */
  readonly maxParallelRuns?: number | undefined;
  /** After how long another process takes over from one that died; default 30 s. A run that starts twice as late was missed. */
  readonly leaseTtlMs?: number | undefined;
}

const zoneSetting = 'time-zone';

/** Makes the scheduler of a store; it runs nothing before it is started. */
export const createScheduler = (options: SchedulerOptions): Scheduler => {
  const { store, clock, log } = options;
  const shelf = scheduleShelf(store);
  const configuredZone = knownZone(options.timeZone, log);
  // The machine's is looked up when it is asked for: the first look takes a twentieth of a start.
  const timeZone = async (): Promise<string> =>
    knownZone((await shelf.settings.get(zoneSetting))?.value, log) ?? configuredZone ?? systemTimeZone();
  const owner: ScheduleOwner = createScheduleOwner({ ...options, timeZone });
  const changed = async <T>(write: Promise<T>): Promise<T> => {
    const written = await write;
    owner.wake();
    return written;
  };

  return {
    start: owner.start,
    add: async (request) => {
      const agentZone = await timeZone();
      const plan = planTask(request, { nowMs: clock.nowMs(), agentZone });
      const id = taskId(plan.task.name, plan.task.workspace);
      const next = { atMs: plan.nextRunMs, timeZone: plan.zone };
      const revision = await changed(shelf.tasks.put(id, { ...plan.task, next }));
      return { ...plan, replaced: revision > 1 };
    },
    cancel: (name, { workspace } = {}) => changed(shelf.tasks.delete(taskId(name.trim(), workspace))),
    get: async (name, { workspace } = {}) => {
      const found = await shelf.tasks.get(taskId(name.trim(), workspace));
      return found && toView(found.value, await timeZone(), clock.nowMs());
    },
    list: async (of) => {
      const [agentZone, stored] = await Promise.all([timeZone(), shelf.tasks.list()]);
      const nowMs = clock.nowMs();
      return stored
        .filter(({ value }) => of === undefined || value.workspace === of.workspace)
        .map(({ value }) => toView(value, agentZone, nowMs));
    },
    history: (name, { workspace } = {}) => shelf.history(taskId(name.trim(), workspace)),
    timeZone,
    setTimeZone: async (zone) => {
      await changed(shelf.settings.put(zoneSetting, parseTimeZone(zone)));
    },
    [Symbol.asyncDispose]: () => owner[Symbol.asyncDispose](),
  };
};

const toView = (task: StoredTask, agentZone: string, nowMs: number): TaskView => {
  const { next, retry: _retry, running, ...shown } = task;
  const zone = task.timeZone ?? agentZone;
  // The owner moves stored times after a change of zone; until then they are worked out here.
  const nextRunMs = next.timeZone === zone || task.atMs !== undefined ? next.atMs : nextOccurrence(task, zone, nowMs);
  return { ...shown, zone, isRunning: running !== undefined, nextRunMs: running ? undefined : nextRunMs };
};

const knownZone = (zone: string | undefined, log: Log): string | undefined => {
  if (zone === undefined || isTimeZone(zone)) return zone;
  log.warn({ zone }, 'the time zone of the schedule does not exist and is ignored');
  return undefined;
};
