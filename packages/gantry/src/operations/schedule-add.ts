import * as z from 'zod';
import { GantryError } from '../kernel/errors.ts';
import type { JsonObject } from '../kernel/json.ts';
import { nearest } from '../kernel/nearest.ts';
import type { CallContext } from '../tool/context.ts';
import { jsonObject } from './json-shapes.ts';
import type { Operation } from './operation.ts';
import { defineOperation } from './operation.ts';
import type { OperationDeps } from './operation-deps.ts';
import type { TaskNamed } from './schedule.ts';
import { scheduleOf, taskName, taskWorkspace } from './schedule.ts';
import type { ScheduledTaskInfo } from './schedule-shapes.ts';
import { scheduledTaskSchema, toTaskInfo } from './schedule-shapes.ts';

/** A new task: when (one of `cron` and `at`), and what (one of `prompt` and `tool`). */
export interface ScheduleAddInput extends TaskNamed {
  readonly cron?: string | undefined;
  readonly at?: string | undefined;
  readonly timeZone?: string | undefined;
  readonly once?: boolean | undefined;
  readonly missed?: 'skip' | 'once' | undefined;
  readonly prompt?: string | undefined;
  readonly tool?: string | undefined;
  readonly arguments?: JsonObject | undefined;
}

/** What was scheduled. */
export interface ScheduleAdded {
  readonly task: ScheduledTaskInfo;
  /** A task of that name was there before and is gone. */
  readonly replaced: boolean;
  /** What its author should know. */
  readonly notes: readonly string[];
}

/** `schedule.add` */
export const scheduleAdd: Operation<ScheduleAddInput, ScheduleAdded> = defineOperation({
  name: 'schedule.add',
  summary: 'Schedules a prompt or a tool call, by a cron line or for one moment.',
  description: 'A task of the same name is replaced. Give either `cron` or `at`, and either `prompt` or `tool`.',
  method: 'POST',
  path: '/schedule',
  input: z.strictObject({
    name: taskName,
    workspace: taskWorkspace,
    cron: z
      .string()
      .optional()
      .describe('Minute, hour, day of month, month, day of week; with six fields the second comes first.'),
    at: z.string().optional().describe('ISO time; without an offset it is wall time in the time zone.'),
    timeZone: z.string().optional().describe('IANA name or offset; default the zone that schedule.list shows.'),
    once: z.boolean().optional().describe('Remove the task after it has run once; default false.'),
    missed: z
      .enum(['skip', 'once'])
      .optional()
      .describe('Repeated runs that were missed while no gateway ran: skip them (default), or make up once.'),
    prompt: z.string().optional().describe('What the agent is to do; it has a session of its own.'),
    tool: z.string().min(1).optional().describe('Tool that is called instead.'),
    arguments: jsonObject
      .optional()
      .describe('Arguments of the tool; {task} in a text stands for the name of the task.'),
  }),
  output: z.strictObject({
    task: scheduledTaskSchema,
    replaced: z.boolean().describe('A task of that name was there before and is gone.'),
    notes: z.array(z.string()).describe('What its author should know.'),
  }),
  handler: async ({ prompt, tool, arguments: args, once, ...when }, deps) => {
    const { scheduler, promptNote } = scheduleOf(deps);
    if ((prompt === undefined) === (tool === undefined))
      throw invalid('Give either "prompt" (what the agent is to do) or "tool" (a tool that is called).');
    if (tool === undefined && args !== undefined) throw invalid('"arguments" go with "tool" only.');
    const { task, nextRunMs, zone, notes, replaced } = await scheduler.add({
      ...when,
      runOnce: once,
      description: prompt ?? `Calls ${tool}.`,
      action: tool === undefined ? undefined : { tool, arguments: args },
    });
    const actionNote = tool === undefined ? promptNote : missingToolNote(tool, when.workspace, deps);
    return {
      task: toTaskInfo({ ...task, nextRunMs, zone, isRunning: false }),
      replaced,
      notes: actionNote === undefined ? notes : [...notes, actionNote],
    };
  },
});

/** A tool may come back before the task is due, so one that is missing now is worth a note and no refusal. */
const missingToolNote = (
  tool: string,
  workspace: string | undefined,
  { toolsets }: OperationDeps,
): string | undefined => {
  const context: CallContext = { caller: 'model', workspace };
  if (toolsets.find(tool, context)) return undefined;
  const [near] = nearest(tool, toolsets.names(context));
  return `There is no tool "${tool}" now; as long as that is so, the runs fail.${near === undefined ? '' : ` Did you mean "${near}"?`}`;
};

const invalid = (message: string): GantryError => new GantryError('invalid_arguments', message);
