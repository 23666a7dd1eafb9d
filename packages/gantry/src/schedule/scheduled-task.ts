import type { JsonObject } from '../kernel/json.ts';

/** A tool call as the action of a task. */
export interface ToolAction {
  readonly tool: string;
  /** `{task}` and `{description}` inside text values stand for those of the task. */
  readonly arguments?: JsonObject | undefined;
}

/** Work that is done at certain times. */
export interface ScheduledTask {
  /** Unique within its workspace; case does not matter. */
  readonly name: string;
  /** What is to be done, in words; the prompt of an agent's turn. */
  readonly description: string;
  /** Five or six fields; absent for a task with a fixed time. */
  readonly cron?: string | undefined;
  /** The one moment (epoch ms) of a task without cron. */
  readonly atMs?: number | undefined;
  /** The task's own zone; absent: the agent's. */
  readonly timeZone?: string | undefined;
  /** Removed once it has run. */
  readonly runOnce: boolean;
  /** What happens to runs of a recurring task that were missed: nothing, or one run to make up for all of them. */
  readonly missed: 'skip' | 'once';
  readonly workspace?: string | undefined;
  /** Set by the program itself: models can neither replace nor cancel it. */
  readonly isSystemTask?: boolean | undefined;
  /** Absent: an agent's turn with the description as prompt. */
  readonly action?: ToolAction | undefined;
  readonly createdAtMs: number;
  /** Start of the last run whose action came to an end, well or badly. */
  readonly lastFiredAtMs?: number | undefined;
}

/** A task as it is kept. */
export interface StoredTask extends ScheduledTask {
  /** When it runs next (epoch ms), and the zone in which that was worked out. */
  readonly next: { readonly atMs: number; readonly timeZone: string };
  /** Waits for another try of a run that found the agent busy. */
  readonly retry?: { readonly count: number; readonly scheduledAtMs: number } | undefined;
  /** Runs now, under the lease of that fence. Written before the action starts, so no other process starts it again. */
  readonly running?:
    | { readonly fence: number; readonly scheduledAtMs: number; readonly startedAtMs: number }
    | undefined;
}

/** A task as people and models are told of it. */
export interface TaskView extends ScheduledTask {
  /** Next run or next try, epoch ms; undefined when no occurrence is left. */
  readonly nextRunMs?: number | undefined;
  /** The zone that counts for it: its own, else the agent's. */
  readonly zone: string;
  readonly isRunning: boolean;
}

/**
 * How a run, or an occurrence without one, ended: `done`; `failed`; `parked` (the tool asked a question or goes on in the
 * background); `interrupted` (the process stopped or died in the middle; it is not repeated); `missed` (nothing ran, the time had
 * passed); `busy` (given up, since the agent had no time for it).
 */
export type RunStatus = 'done' | 'failed' | 'parked' | 'interrupted' | 'missed' | 'busy';

/** One line of a task's history. */
export interface RunRecord {
  readonly status: RunStatus;
  readonly scheduledAtMs: number;
  /** Absent when nothing ran. */
  readonly startedAtMs?: number | undefined;
  readonly endedAtMs: number;
  /** Result or reason, cut to a few lines. */
  readonly text: string;
  /** Occurrences that passed while nothing was there to run them, the scheduled one included. Counted up to 1000. */
  readonly missedCount?: number | undefined;
  /** Occurrences that were left out because this run was still going on. Counted up to 1000. */
  readonly skippedCount?: number | undefined;
  /** The first of those that were left out, epoch ms. */
  readonly skippedAtMs?: readonly number[] | undefined;
}

/** The key of a task: its name without case, below its workspace. */
export const taskId = (name: string, workspace: string | undefined): string => {
  const folded = name.normalize('NFC').toLowerCase();
  return workspace === undefined ? folded : `${workspace}/${folded}`;
};
