import type { Clock } from '../../kernel/clock.ts';
import { GantryError, messageOf } from '../../kernel/errors.ts';
import type { Log } from '../../kernel/log.ts';
import type { WorkingMemory } from '../../memory/working-memory.ts';
import type { Documents } from '../../store/documents.ts';
import type { Notify } from '../../tool/ports.ts';
import { keepOutputs } from './keep-outputs.ts';
import type { ProgressRelay } from './progress-relay.ts';
import type { ResultDelivery } from './result-delivery.ts';
import type { RunHoldings } from './run-holdings.ts';
import type { SubagentEntry } from './subagent-entry.ts';
import type { SubagentMessages } from './subagent-messages.ts';
import type { SubagentRecord, SubagentResult } from './subagent-record.ts';
import { subagentNamespace } from './subagent-record.ts';
import { lateNotice } from './subagent-texts.ts';
import type { LateNotice } from './task-inbox.ts';

/** Tells the conversation of a subagent that is gone what came for it. */
export type FoldBack = (taskId: string, record: SubagentRecord, notice: LateNotice) => Promise<void>;

/** Makes it over the way to tell conversations. */
export const createFoldBack =
  (notify: Notify): FoldBack =>
  async (taskId, { namespace }, { kind, key, text }) => {
    // A call that a restart interrupted is told by the result of the subagent, which it interrupted too.
    if (kind !== 'interrupted') await notify({ namespace, kind, key, text: lateNotice(taskId, text) });
  };

/**
 * The one end of every subagent, however it came to it: what it holds is let go, its outputs are kept, its result is put on record, published
 * and told. Never throws: what fails on the way is logged, and the rest is done.
 */
export type EndSubagent = (
  entry: SubagentEntry,
  result: Omit<SubagentResult, 'keys' | 'toolCallCount'>,
) => Promise<void>;

/** Makes the end of a process's subagents. */
export const createEndSubagent = (options: {
  readonly documents: Documents<SubagentRecord>;
  readonly holdings: RunHoldings;
  readonly memory: Pick<WorkingMemory, 'list' | 'save' | 'stash'>;
  readonly messages: SubagentMessages;
  readonly delivery: ResultDelivery;
  readonly foldBack: FoldBack;
  readonly progress: Pick<ProgressRelay, 'end'>;
  /** It runs no more, and its place is free. */
  readonly onGone: (taskId: string) => void;
  readonly clock: Clock;
  readonly log: Log;
}): EndSubagent => {
  const { documents, holdings, memory, messages, delivery, foldBack, progress, onGone, clock, log } = options;

  const quietly = async (what: string, work: () => Promise<unknown>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      log.warn({ reason: messageOf(error) }, what);
    }
  };

  /** Puts a result on record; false when another process took this one for dead, and has told the conversation so. */
  const putOnRecord = async ({ taskId, record, revision }: SubagentEntry, result: SubagentResult): Promise<boolean> => {
    try {
      await documents.put(taskId, { ...record, result }, { ifRevision: revision });
    } catch (error) {
      const isTaken = GantryError.is(error) && error.code === 'revision_conflict';
      log.warn(
        { taskId, reason: messageOf(error) },
        isTaken ? 'a subagent was called interrupted, and ended later' : 'the result of a subagent could not be stored',
      );
      return !isTaken;
    }
    return true;
  };

  return async (entry, ended) => {
    const { taskId, record, inbox, steps, asked } = entry;
    const namespace = subagentNamespace(taskId);
    const unread = inbox.close();
    await quietly('the questions of a subagent could not be released', () => holdings.releaseQuestions(namespace));
    if (entry.isCancelled)
      await quietly('the background tasks of a subagent could not be cancelled', async () => {
        for (const id of await holdings.openTasks(namespace)) await holdings.cancelTask(id, namespace);
      });
    let keys: readonly string[] = [];
    await quietly('the outputs of a subagent could not be kept for longer', async () => {
      keys = await keepOutputs(memory, { namespace, text: ended.text, nowMs: clock.nowMs() });
    });
    const toolCallCount = steps.reduce((sum, { calls }) => sum + calls.length, 0);
    const result: SubagentResult = { ...ended, keys, toolCallCount };
    const isOurs = await putOnRecord(entry, result);
    onGone(taskId);
    await progress.end(taskId);
    await messages.result({ taskId, record, result, steps, asked });
    if (isOurs) await delivery.deliver({ taskId, record, result });
    for (const notice of unread) await quietly('a late result was not told', () => foldBack(taskId, record, notice));
  };
};
