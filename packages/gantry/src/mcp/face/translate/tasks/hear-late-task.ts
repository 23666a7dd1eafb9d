import { startDeadline, startGrace } from '../../../../kernel/abort.ts';
import type { Clock } from '../../../../kernel/clock.ts';
import type { JsonObject } from '../../../../kernel/json.ts';
import { olderTaskIn } from './task-forms.ts';
import type { TaskWay } from './task-way.ts';
import { resultOf } from './task-way.ts';

// A server says at once that it has made a task. What it does itself of a call, it does no longer than that for nobody.
const lateMs = 3_000;
// Nobody waits for it.
const cancelMs = 10_000;

/**
 * The signal for a call that may become a task, whose client gives it up by `signal`: its answer is waited for some seconds longer, as a task
 * that it brings would run on with nobody to hear of it. Dispose it when the answer is there.
 */
export const hearLateTask = (clock: Clock, signal: AbortSignal): ReturnType<typeof startGrace> =>
  startGrace(clock, lateMs, signal);

/** Cancels a task of a server of 2025. */
export const cancelAt = async (way: Pick<TaskWay, 'request'>, taskId: string, clock: Clock): Promise<void> => {
  using deadline = startDeadline(clock, cancelMs);
  await resultOf(way.request('tasks/cancel', { taskId }), deadline.signal);
};

/** Cancels the task that an answer of a server of 2025 brings, if it brings one, when its client has gone meanwhile. */
export const cancelUnheard = async (
  way: Pick<TaskWay, 'request'>,
  made: JsonObject,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> => {
  const task = olderTaskIn(made);
  if (task && signal.aborted) await cancelAt(way, task.taskId, clock);
};
