import { orAborted, startDeadline, startGrace } from '../../../kernel/abort.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { messageOf } from '../../../kernel/errors.ts';
import type { Log } from '../../../kernel/log.ts';
import { taskOf } from '../result/unfinished.ts';
import type { Snapshot } from '../server/managed-server.ts';
import { cancelTask } from '../tasks/task-requests.ts';
import type { CallBudget } from './call-budget.ts';

// A server says at once that it has made a task.
const lateMs = 3_000;
const cancelMs = 5_000;

/**
 * Sends a call that may become a task. When it is ended before its answer, that is heard for some seconds longer, and a task that it brings is
 * cancelled: it would run on with nobody to hear of it.
 */
export const sendHeard = (
  send: (signal: AbortSignal) => Promise<unknown>,
  {
    snapshot,
    budget,
    clock,
    log,
  }: { readonly snapshot: Snapshot; readonly budget: CallBudget; readonly clock: Clock; readonly log: Log },
): Promise<unknown> => {
  const late = startGrace(clock, lateMs, budget.signal);
  const sent = send(late.signal).finally(() => late[Symbol.dispose]());
  const cancelUnheard = async (): Promise<void> => {
    const { taskId } = taskOf(await sent) ?? {};
    if (budget.ended === undefined || typeof taskId !== 'string') return;
    using deadline = startDeadline(clock, cancelMs);
    await cancelTask(snapshot, taskId, deadline.signal);
  };
  cancelUnheard().catch((error: unknown) => {
    if (budget.ended) log.debug({ reason: messageOf(error) }, 'of a call that was ended nothing more was heard');
  });
  return orAborted(sent, budget.signal);
};
