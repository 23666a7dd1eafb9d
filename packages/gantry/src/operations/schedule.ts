import * as z from 'zod';
import { GantryError } from '../kernel/errors.ts';
import { nearest } from '../kernel/nearest.ts';
import { taskId } from '../schedule/scheduled-task.ts';
import type { Scheduler } from '../schedule/scheduler.ts';
import { flattenText } from '../text/flatten.ts';
import type { NoInput, Operation } from './operation.ts';
import { defineOperation } from './operation.ts';
import type { OperationDeps, SchedulePort } from './operation-deps.ts';
import type { ScheduledTaskInfo, TaskRunInfo } from './schedule-shapes.ts';
import { scheduledTaskSchema, taskRunSchema, toRunInfo, toTaskInfo } from './schedule-shapes.ts';

/** Names one task. */
export interface TaskNamed {
  readonly name: string;
  /** Whose it is; absent: a task of no workspace. */
  readonly workspace?: string | undefined;
}

/** The inputs that name a task. */
export const taskName: z.ZodType<string> = z.string().min(1).describe('Name of the task; case does not matter.');
/** The workspace of a task. */
export const taskWorkspace: z.ZodType<string | undefined> = z
  .string()
  .min(1)
  .optional()
  .describe('Workspace of the task; default none.');
const named = z.strictObject({ name: taskName, workspace: taskWorkspace });

/** `schedule.list` */
export const scheduleList: Operation<
  NoInput,
  { readonly timeZone: string; readonly tasks: readonly ScheduledTaskInfo[] }
> = defineOperation({
  name: 'schedule.list',
  summary: 'Lists the scheduled tasks of all workspaces with their next runs.',
  method: 'GET',
  path: '/schedule',
  input: z.strictObject({}),
  output: z.strictObject({
    timeZone: z.string().describe('The zone of tasks that have none of their own.'),
    tasks: z.array(scheduledTaskSchema),
  }),
  handler: async (_input, deps) => {
    const { scheduler } = scheduleOf(deps);
    const [timeZone, tasks] = await Promise.all([scheduler.timeZone(), scheduler.list()]);
    return { timeZone, tasks: tasks.map(toTaskInfo) };
  },
});

/** A task and what became of it. */
export interface ScheduleShown {
  /** Null when the task is gone and only its history is left. */
  readonly task: ScheduledTaskInfo | null;
  /** Oldest first. */
  readonly history: readonly TaskRunInfo[];
}

/** `schedule.show` */
export const scheduleShow: Operation<TaskNamed, ScheduleShown> = defineOperation({
  name: 'schedule.show',
  summary: 'Shows a scheduled task and its last runs.',
  description: 'Runs are kept for 30 days, also when the task is gone; then `task` is null.',
  method: 'GET',
  path: '/schedule/{name}',
  input: named,
  output: z.strictObject({
    task: scheduledTaskSchema.nullable().describe('Null when the task is gone and only its history is left.'),
    history: z.array(taskRunSchema).describe('Oldest first.'),
  }),
  handler: async ({ name, workspace }, deps) => {
    const { scheduler } = scheduleOf(deps);
    const [task, history] = await Promise.all([
      scheduler.get(name, { workspace }),
      scheduler.history(name, { workspace }),
    ]);
    if (!task && history.length === 0) throw await unknownTask(scheduler, { name, workspace });
    return { task: task ? toTaskInfo(task) : null, history: history.map(toRunInfo) };
  },
});

/** `schedule.cancel` */
export const scheduleCancel: Operation<TaskNamed, { readonly cancelled: string }> = defineOperation({
  name: 'schedule.cancel',
  summary: 'Removes a scheduled task.',
  description: 'A run that goes on now is not stopped, but is the last.',
  method: 'POST',
  path: '/schedule/{name}/cancel',
  input: named,
  output: z.strictObject({ cancelled: z.string() }),
  handler: async ({ name, workspace }, deps) => {
    const { scheduler } = scheduleOf(deps);
    const task = await scheduler.get(name, { workspace });
    if (!task || !(await scheduler.cancel(name, { workspace })))
      throw await unknownTask(scheduler, { name, workspace });
    return { cancelled: task.name };
  },
});

/**
 * The schedule that operations work on.
 * @throws {GantryError} `schedule_unknown` where none is in use.
 */
export const scheduleOf = ({ schedule }: OperationDeps): SchedulePort => {
  if (schedule) return schedule;
  throw new GantryError('schedule_unknown', 'No schedule is in use here, so there are no scheduled tasks.', {
    details: { known: [] },
  });
};

/** Says that there is no such task, where one of that name is, and which come close. */
const unknownTask = async (
  scheduler: Pick<Scheduler, 'list'>,
  { name, workspace }: TaskNamed,
): Promise<GantryError> => {
  const tasks = await scheduler.list();
  const known = tasks.filter((task) => task.workspace === workspace).map((task) => task.name);
  const near = nearest(name, known);
  const id = taskId(name.trim(), undefined);
  const elsewhere = tasks.find((task) => taskId(task.name, undefined) === id);
  const hint = elsewhere
    ? `One of that name belongs to ${elsewhere.workspace === undefined ? 'no workspace' : `workspace "${elsewhere.workspace}"`}.`
    : near.length > 0
      ? `Did you mean ${near.map((other) => `"${other}"`).join(', ')}?`
      : `Known: ${known.join(', ') || 'none'}.`;
  const where = workspace === undefined ? '' : ` in workspace "${flattenText(workspace, { maxChars: 100 })}"`;
  return new GantryError(
    'schedule_unknown',
    `There is no scheduled task named "${flattenText(name, { maxChars: 100 })}"${where}. ${hint}`,
    { details: { name, known } },
  );
};
