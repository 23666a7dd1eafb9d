import * as z from 'zod';
import type { Clock } from '../kernel/clock.ts';
import { GantryError } from '../kernel/errors.ts';
import { nearest } from '../kernel/nearest.ts';
import { defineTool } from '../tool/define-tool.ts';
import type { Tool } from '../tool/executor.ts';
import { describeAdded, describeTasks, describeUnknown } from './schedule-texts.ts';
import type { TaskView } from './scheduled-task.ts';
import type { Scheduler } from './scheduler.ts';

const source = 'scheduling';
const name = z.string().describe('Name of the task; case does not matter.');

/**
 * The tools by which a model schedules work. A caller sees and changes the tasks of its workspace only; an
 * operator is shown all.
 *
 * @param options `warning` is added to what `schedule_task` answers, when tasks cannot run as things stand.
 */
export const scheduleTools = (
  scheduler: Scheduler,
  options: { readonly clock: Clock; readonly warning?: string | undefined },
): readonly Tool[] => [
  defineTool({
    name: 'schedule_task',
    description:
      'Schedules work for later: repeatedly by cron, or once at a time. When it is due, you are given the description as a prompt in a session of its own, so it must say everything that is needed. A task of the same name is replaced.',
    source,
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    input: z.strictObject({
      name,
      cron: z
        .string()
        .optional()
        .describe(
          '5 fields "minute hour day-of-month month day-of-week", or 6 with the second first. Leave out when at is given.',
        ),
      description: z.string().describe('What to do when it is due.'),
      run_once: z.boolean().optional().describe('Remove the task after it has run once. Default false.'),
      runOnce: z.boolean().optional().describe('The same as run_once.'),
      at: z
        .string()
        .optional()
        .describe(
          'One moment instead of cron: "2026-05-01T09:00:00" in the time zone of the task, or with "Z" or an offset.',
        ),
      time_zone: z
        .string()
        .optional()
        .describe('IANA name such as "Europe/Berlin". Default the zone that list_scheduled_tasks shows.'),
      missed: z
        .enum(['skip', 'once'])
        .optional()
        .describe('Repeated runs that were missed while the program was off: skip them (default), or make up once.'),
    }),
    execute: async ({ name, cron, description, run_once, runOnce, at, time_zone: timeZone, missed }, context) => {
      const { workspace } = context;
      refuseSystemTask(await scheduler.get(name, { workspace }));
      const added = await scheduler.add({
        name,
        // Models fill what they do not use with an empty text.
        cron: cron === '' && at ? undefined : cron,
        description,
        runOnce: run_once ?? runOnce,
        at: at === '' ? undefined : at,
        timeZone: timeZone === '' ? undefined : timeZone,
        missed,
        workspace,
      });
      const text = describeAdded(added, options.clock.nowMs());
      return options.warning === undefined ? text : `${text}\nNote: ${options.warning}`;
    },
  }),
  defineTool({
    name: 'list_scheduled_tasks',
    description:
      'Shows the current time with its time zone, and all scheduled tasks with their next runs. Read the time here before you work out "in two hours".',
    source,
    annotations: { readOnlyHint: true, openWorldHint: false },
    input: z.strictObject({}),
    execute: async (_, { caller, workspace }) => {
      const of = caller === 'operator' && workspace === undefined ? undefined : { workspace };
      const [tasks, zone] = await Promise.all([scheduler.list(of), scheduler.timeZone()]);
      return describeTasks(tasks, zone, options.clock.nowMs());
    },
  }),
  defineTool({
    name: 'cancel_scheduled_task',
    description: 'Removes a scheduled task. A run that goes on now is not stopped, but is the last.',
    source,
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    input: z.strictObject({ name }),
    execute: async ({ name }, { workspace }) => {
      const task = await scheduler.get(name, { workspace });
      refuseSystemTask(task);
      if (task && (await scheduler.cancel(name, { workspace }))) return `Cancelled "${task.name}".`;
      const known = (await scheduler.list({ workspace })).map((other) => other.name);
      return describeUnknown(name, nearest(name, known));
    },
  }),
];

const refuseSystemTask = (task: TaskView | undefined): void => {
  if (!task?.isSystemTask) return;
  throw new GantryError(
    'invalid_arguments',
    `"${task.name}" is a task of the system and cannot be replaced or cancelled; choose another name.`,
  );
};
