import { messageOf } from '../../kernel/errors.ts';
import type { Log } from '../../kernel/log.ts';
import type { Documents } from '../../store/documents.ts';
import type { Notify } from '../../tool/ports.ts';
import type { SubagentRecord, SubagentResult } from './subagent-record.ts';
import { joinedNotice, resultNotice } from './subagent-texts.ts';

/** A subagent that has ended. */
export interface EndedSubagent {
  readonly taskId: string;
  readonly record: SubagentRecord;
  readonly result: SubagentResult;
}

/** Tells conversations how their subagents have ended. */
export interface ResultDelivery {
  /**
   * Tells of one, together with those that waited for it; one that may be told with others waits while such others run. Resolves when
   * it is on record in the conversation, or waits. Never throws: what was not told is told at the next start.
   */
  deliver(ended: EndedSubagent): Promise<void>;
}

/** Makes the delivery of a process. */
export const createResultDelivery = (options: {
  readonly documents: Documents<SubagentRecord>;
  readonly notify: Notify;
  readonly log: Log;
  /** Subagents of the conversation still run whose results may be told together. */
  readonly isWaitedFor: (namespace: string) => boolean;
}): ResultDelivery => {
  const { documents, notify, log, isWaitedFor } = options;
  const held = new Map<string, EndedSubagent[]>();

  const tell = async (namespace: string, ended: readonly EndedSubagent[]): Promise<void> => {
    const notices = ended.map(({ taskId, record, result }) =>
      resultNotice(taskId, { description: record.description, result }),
    );
    // What the conversation did itself, or the end of the process, is put on record and not answered.
    const kind = ended.every(({ result }) => result.isExpected) ? 'interrupted' : 'subagent';
    await notify({ namespace, kind, text: joinedNotice(notices) });
    for (const { taskId, record, result } of ended)
      await documents.put(taskId, { ...record, result, isDelivered: true });
  };

  return {
    deliver: async (ended) => {
      const { namespace, consolidate } = ended.record;
      let together = [ended];
      if (consolidate) {
        together = [...(held.get(namespace) ?? []), ended];
        if (isWaitedFor(namespace)) {
          held.set(namespace, together);
          return;
        }
        held.delete(namespace);
      }
      try {
        await tell(namespace, together);
      } catch (error) {
        log.error(
          { namespace, tasks: together.map(({ taskId }) => taskId), reason: messageOf(error) },
          'a conversation could not be told how its subagents ended; it is told at the next start',
        );
      }
    },
  };
};
