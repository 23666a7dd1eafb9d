import * as z from 'zod';
import type { JsonObject } from '../kernel/json.ts';
import type { RunRecord, RunStatus, TaskView } from '../schedule/scheduled-task.ts';
import { jsonObject } from './json-shapes.ts';

/** A scheduled task as people and programs are told of it. Moments are ISO times in UTC. */
export interface ScheduledTaskInfo {
  readonly name: string;
  /** Whose it is; null: nobody's in particular. */
  readonly workspace: string | null;
  /** What is to be done; the prompt, unless the task is a tool call. */
  readonly description: string;
  /** Null for a task with a fixed time. */
  readonly cron: string | null;
  /** Null for a task with a cron line. */
  readonly at: string | null;
  /** The zone that counts for it. */
  readonly timeZone: string;
  readonly once: boolean;
  readonly missed: 'skip' | 'once';
  /** Tool that is called; null: an agent's turn with the description as prompt. */
  readonly tool: string | null;
  readonly arguments?: JsonObject | undefined;
  /** Null while it runs, and when no occurrence is left. */
  readonly nextRunAt: string | null;
  readonly lastRunAt: string | null;
  readonly isRunning: boolean;
  /** Set by the program itself. */
  readonly isSystemTask: boolean;
}

/** One line of a task's history. */
export interface TaskRunInfo {
  readonly status: RunStatus;
  readonly scheduledAt: string;
  /** Null when nothing ran. */
  readonly startedAt: string | null;
  readonly endedAt: string;
  /** Result or reason, cut to a few lines. */
  readonly text: string;
  /** Occurrences that passed unnoticed, the scheduled one included. */
  readonly missedCount: number;
  /** Occurrences that were left out because this run went on. */
  readonly skippedCount: number;
}

/** Schema of {@link ScheduledTaskInfo}. */
export const scheduledTaskSchema: z.ZodType<ScheduledTaskInfo> = z.strictObject({
  name: z.string(),
  workspace: z.string().nullable(),
  description: z.string().describe('What is to be done; the prompt, unless the task is a tool call.'),
  cron: z.string().nullable().describe('Null for a task with a fixed time.'),
  at: z.string().nullable().describe('The moment of a task with a fixed time, ISO.'),
  timeZone: z.string().describe('The zone that counts for it.'),
  once: z.boolean(),
  missed: z.enum(['skip', 'once']),
  tool: z.string().nullable().describe("Tool that is called; null: an agent's turn with the description as prompt."),
  arguments: jsonObject.optional(),
  nextRunAt: z.string().nullable().describe('ISO; null while it runs, and when no occurrence is left.'),
  lastRunAt: z.string().nullable().describe('ISO.'),
  isRunning: z.boolean(),
  isSystemTask: z.boolean().describe('Set by the program itself; models cannot change it.'),
});

/** Schema of {@link TaskRunInfo}. */
export const taskRunSchema: z.ZodType<TaskRunInfo> = z.strictObject({
  status: z.enum(['done', 'failed', 'parked', 'interrupted', 'missed', 'busy']),
  scheduledAt: z.string(),
  startedAt: z.string().nullable().describe('Null when nothing ran.'),
  endedAt: z.string(),
  text: z.string().describe('Result or reason, cut to a few lines.'),
  missedCount: z.number().describe('Occurrences that passed unnoticed, the scheduled one included; at most 1000.'),
  skippedCount: z.number().describe('Occurrences that were left out because this run went on; at most 1000.'),
});

/** A task in the shape of the operations. */
export const toTaskInfo = (task: TaskView): ScheduledTaskInfo => ({
  name: task.name,
  workspace: task.workspace ?? null,
  description: task.description,
  cron: task.cron ?? null,
  at: isoOf(task.atMs),
  timeZone: task.zone,
  once: task.runOnce,
  missed: task.missed,
  tool: task.action?.tool ?? null,
  arguments: task.action?.arguments,
  nextRunAt: isoOf(task.nextRunMs),
  lastRunAt: isoOf(task.lastFiredAtMs),
  isRunning: task.isRunning,
  isSystemTask: task.isSystemTask ?? false,
});

/** A line of history in the shape of the operations. */
export const toRunInfo = (record: RunRecord): TaskRunInfo => ({
  status: record.status,
  scheduledAt: new Date(record.scheduledAtMs).toISOString(),
  startedAt: isoOf(record.startedAtMs),
  endedAt: new Date(record.endedAtMs).toISOString(),
  text: record.text,
  missedCount: record.missedCount ?? 0,
  skippedCount: record.skippedCount ?? 0,
});

const isoOf = (timeMs: number | undefined): string | null =>
  timeMs === undefined ? null : new Date(timeMs).toISOString();
