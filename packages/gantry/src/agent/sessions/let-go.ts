import { messageOf } from '../../kernel/errors.ts';
import type { Log } from '../../kernel/log.ts';
import type { WorkingMemory } from '../../memory/working-memory.ts';
import type { RunHoldings } from '../subagents/run-holdings.ts';
import type { Subagents } from '../subagents/subagents.ts';

/** Ends what a conversation has set going and deletes what it has kept. Never throws: what fails is logged, and the rest is done. */
export type LetGo = (namespace: string) => Promise<void>;

/**
 * Makes it: subagents of this process, background tasks and open questions of servers end, and the working memory of the conversation is
 * emptied, with results that were shortened for it.
 */
export const createLetGo = (options: {
  readonly memory: Pick<WorkingMemory, 'list' | 'delete'>;
  /** Absent: there are none. */
  readonly subagents: Pick<Subagents, 'list' | 'cancel'> | undefined;
  readonly holdings: RunHoldings;
  readonly log: Log;
}): LetGo => {
  const { memory, subagents, holdings, log } = options;

  const quietly = async (what: string, work: () => Promise<unknown>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      log.warn({ reason: messageOf(error) }, what);
    }
  };

  return async (namespace) => {
    if (subagents)
      await Promise.all(subagents.list(namespace).map(({ taskId }) => subagents.cancel(taskId, namespace)));
    await quietly('the questions of a forgotten conversation could not be released', () =>
      holdings.releaseQuestions(namespace),
    );
    await quietly('the background tasks of a forgotten conversation could not be cancelled', async () => {
      for (const id of await holdings.openTasks(namespace)) await holdings.cancelTask(id, namespace);
    });
    await quietly('the working memory of a forgotten conversation could not be emptied', async () => {
      const stash = `stash/${namespace.replace(/^session\//, '')}`;
      for (const { key } of [...(await memory.list(namespace)), ...(await memory.list(stash))])
        await memory.delete(key);
    });
  };
};
