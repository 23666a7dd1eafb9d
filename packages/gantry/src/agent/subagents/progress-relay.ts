import type { Clock, Timer } from '../../kernel/clock.ts';
import { GantryError, messageOf } from '../../kernel/errors.ts';
import type { Log } from '../../kernel/log.ts';
import type { Notify } from '../../tool/ports.ts';
import { progressNotice } from './subagent-texts.ts';

/**
 * Tells conversations how their subagents get on. Each report leads to a turn of a conversation, so they are told one at once and then
 * together, at most every 30 seconds.
 */
export interface ProgressRelay {
  /**
   * Tells the conversation, now or a little later.
   * @throws {GantryError} `limit_reached` after 20 reports.
   */
  report(taskId: string, namespace: string, message: string): Promise<void>;
  /** The subagent ends: what was not told yet is put on record, and answered for together with its result. */
  end(taskId: string): Promise<void>;
}

const mostReports = 20;
const tellEveryMs = 30_000;

interface Waiting {
  readonly namespace: string;
  reports: number;
  messages: string[];
  /** Runs while nothing more is told. */
  pause?: Timer | undefined;
}

/** Makes the relay of a process. */
export const createProgressRelay = (options: {
  readonly notify: Notify;
  readonly clock: Clock;
  readonly log: Log;
}): ProgressRelay => {
  const { notify, clock, log } = options;
  const waiting = new Map<string, Waiting>();

  const tell = async (taskId: string, of: Waiting, kind: 'subagent' | 'interrupted'): Promise<void> => {
    if (of.messages.length === 0) return;
    const text = progressNotice(taskId, of.messages.join('\n'));
    of.messages = [];
    try {
      await notify({ namespace: of.namespace, kind, text });
    } catch (error) {
      log.warn({ taskId, reason: messageOf(error) }, 'a report of a subagent was not told');
    }
  };

  const pause = (taskId: string, of: Waiting): void => {
    of.pause = clock.startTimer(tellEveryMs, () => {
      of.pause = undefined;
      if (of.messages.length === 0) return;
      pause(taskId, of);
      void tell(taskId, of, 'subagent');
    });
  };

  return {
    report: async (taskId, namespace, message) => {
      const of = waiting.get(taskId) ?? { namespace, reports: 0, messages: [] };
      waiting.set(taskId, of);
      if (of.reports >= mostReports)
        throw new GantryError(
          'limit_reached',
          `${mostReports} reports are the most. Go on, and say the rest at the end.`,
        );
      of.reports += 1;
      of.messages.push(message);
      if (of.pause) return;
      pause(taskId, of);
      await tell(taskId, of, 'subagent');
    },
    end: async (taskId) => {
      const of = waiting.get(taskId);
      if (!of) return;
      waiting.delete(taskId);
      of.pause?.stop();
      await tell(taskId, of, 'interrupted');
    },
  };
};
