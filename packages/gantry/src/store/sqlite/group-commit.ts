import type { Transaction } from 'kysely';
import { sql as raw } from 'kysely';
import type { Queries } from '../sql/sql.ts';
import type { Tables } from '../sql/tables.ts';

/** Writes that share commits. */
export interface GroupCommit {
  write<T>(work: (queries: Queries) => Promise<T>): Promise<T>;
  /** Resolves when nothing is waiting any more. */
  settled(): Promise<void>;
}

/** Runs in the transaction of its group, and gives what tells the writer once the group is durable. */
interface Job {
  run(transaction: Transaction<Tables>): Promise<() => void>;
  fail(error: unknown): void;
}

// Bounds how long one transaction holds the lock that other processes wait for.
const mostPerCommit = 200;

/**
 * Writes that wait at the same time share one commit, and so one wait for the disk. Each keeps its own fate: one that throws is
 * undone alone, and none is acknowledged before the commit.
 */
export const groupCommit = (queries: Queries): GroupCommit => {
  const waiting: Job[] = [];
  let draining: Promise<void> | undefined;

  const drain = async (): Promise<void> => {
    // Lets the writes of this turn of the event loop gather.
    await Promise.resolve();
    while (waiting.length > 0) await commit(queries, waiting.splice(0, mostPerCommit));
    draining = undefined;
  };
  return {
    write: (work) =>
      new Promise((resolve, reject) => {
        waiting.push({
          run: async (transaction) => {
            await raw`savepoint job`.execute(transaction);
            try {
              const result = await work(transaction);
              return () => resolve(result);
            } catch (error) {
              await raw`rollback to job`.execute(transaction);
              return () => reject(error);
            } finally {
              await raw`release job`.execute(transaction);
            }
          },
          fail: reject,
        });
        draining ??= drain();
      }),
    settled: async () => draining,
  };
};

const commit = async (queries: Queries, jobs: readonly Job[]): Promise<void> => {
  try {
    const acknowledgements = await queries.transaction().execute(async (transaction) => {
      const gathered: (() => void)[] = [];
      for (const job of jobs) gathered.push(await job.run(transaction));
      return gathered;
    });
    for (const acknowledge of acknowledgements) acknowledge();
  } catch (error) {
    for (const job of jobs) job.fail(error);
  }
};
