import type { Clock } from '../../kernel/clock.ts';
import { GantryError } from '../../kernel/errors.ts';
import type { ConversationLog } from '../../memory/conversation-log.ts';
import type { UserTurn } from '../../memory/conversation-turn.ts';
import type { RunResult, TaskRun } from '../../schedule/run-action.ts';
import type { AnswerTurn } from './answer-turn.ts';
import type { SessionQueue } from './session-queue.ts';

/** Scheduled runs of a process: turns of their own, which make way for users. */
export interface ScheduledRuns {
  /** Runs a task as a turn. Says `busy` while a user is being answered, also when one comes meanwhile. */
  run(task: TaskRun): Promise<RunResult>;
  /** Ends all that run, for a user who has come. */
  makeWay(): void;
}

const preempted = new GantryError('cancelled', 'A user is being answered; the scheduled run is tried again later.');

/** Makes the scheduled runs of a process. */
export const createScheduledRuns = (options: {
  readonly queue: Pick<SessionQueue, 'run'>;
  readonly conversations: Pick<ConversationLog, 'append'>;
  readonly answer: AnswerTurn;
  /** A user is being answered. */
  readonly isBusy: () => boolean;
  readonly clock: Clock;
}): ScheduledRuns => {
  const { queue, conversations, answer, isBusy, clock } = options;
  const running = new Set<AbortController>();

  return {
    makeWay: () => {
      for (const controller of running) controller.abort(preempted);
    },
    run: async (task) => {
      if (isBusy()) return { status: 'busy' };
      const { namespace, workspace, note, description } = task;
      const controller = new AbortController();
      running.add(controller);
      const signal = AbortSignal.any([task.signal, controller.signal]);
      try {
        return await queue.run(namespace, async (inner): Promise<RunResult> => {
          const text = note === undefined ? description : `${description}\n\n${note}`;
          const asked: UserTurn = { role: 'user', origin: 'schedule', text, atMs: clock.nowMs() };
          const number = await conversations.append(namespace, asked, { workspace });
          const result = await answer({
            namespace,
            workspace,
            asked,
            number,
            tier: 'balanced',
            isTierPinned: false,
            receivesLateResults: false,
            signal: AbortSignal.any([signal, inner]),
          });
          return { status: result.endedBy === 'answer' ? 'done' : 'failed', text: result.text };
        });
      } catch (error) {
        if (controller.signal.aborted) return { status: 'busy' };
        throw error;
      } finally {
        running.delete(controller);
      }
    },
  };
};
