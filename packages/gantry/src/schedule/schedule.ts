import type { Plugin, ServiceKey } from '../plugin/plugin.ts';
import type { RunTurn } from './run-action.ts';
import { createRunAction, noModelText } from './run-action.ts';
import { scheduleGuide } from './schedule-guide.ts';
import { scheduleTools } from './schedule-tools.ts';
import type { ToolAction } from './scheduled-task.ts';
import type { Scheduler } from './scheduler.ts';
import { createScheduler } from './scheduler.ts';

/** Settings of {@link schedule}; all have a default. */
export interface ScheduleOptions {
  /** The agent's zone until somebody sets one; default the machine's. */
  readonly timeZone?: string | undefined;
  /** Runs a task's description as an agent's turn. Absent: no model is configured, and such runs fail unless there is an `action`. */
  readonly runTurn?: RunTurn | undefined;
  /** The tool call that stands for the turn where there is no model. */
  readonly action?: ToolAction | undefined;
  /** Runs tasks when they are due; false for a process that only lists and changes them. Default true. */
  readonly runsTasks?: boolean | undefined;
  /** How many tasks run at the same time; default 4. */
  readonly maxParallelRuns?: number | undefined;
}

/** The schedule, for plugins and surfaces that name `schedule` in their needs. */
export const schedulerKey: ServiceKey<Scheduler> = { name: 'schedule' };

/** Scheduled tasks: three tools, their guide, and the runs. Processes that share a store share the schedule; one of them runs it. */
export const schedule = (options: ScheduleOptions = {}): Plugin => ({
  name: 'schedule',
  setup: (gantry) => {
    const { store, clock, log, invoker } = gantry;
    const { runTurn, action, runsTasks = true, ...rest } = options;
    const act = createRunAction({ invoker, clock, runTurn, action });
    const scheduler = createScheduler({ ...rest, store, clock, log, act });
    gantry.guides.add(scheduleGuide);
    const warning = runTurn === undefined && action === undefined ? noModelText : undefined;
    for (const tool of scheduleTools(scheduler, { clock, warning }))
      gantry.tools.register(tool.registration, tool.executor);
    gantry.provide(schedulerKey, scheduler);
    if (runsTasks) gantry.onStart(scheduler.start);
    gantry.onStop(() => scheduler[Symbol.asyncDispose]());
  },
});
