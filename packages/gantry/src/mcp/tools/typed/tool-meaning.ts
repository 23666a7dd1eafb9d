import { orAborted, startDeadline } from '../../../kernel/abort.ts';
import type { Clock, Timer } from '../../../kernel/clock.ts';
import { messageOf } from '../../../kernel/errors.ts';
import type { Log } from '../../../kernel/log.ts';
import { toEmbeddingText } from '../../../search/embedding-text.ts';
import { createVectorIndex } from '../../../search/vector-index.ts';
import type { KeyValue } from '../../../store/key-value.ts';
import type { EmbeddingModel } from '../../../tool/embedding-model.ts';
import type { Catalog, CatalogEntry } from './catalog.ts';
import type { StoredVector } from './stored-vectors.ts';
import { createStoredVectors } from './stored-vectors.ts';

/** Ranks the tools of a catalog by what they mean, as an embedding model sees it. */
export interface ToolMeaning extends AsyncDisposable {
  /**
   * Typed names of the tools that are near to the query, nearest first; undefined when there is nothing to go by: no vectors yet, or no
   * vector of the query in time. Never rejects.
   */
  rank(query: string, where: (typedName: string) => boolean): Promise<readonly string[] | undefined>;
  /** Whether the tool has been read. */
  knows(typedName: string): boolean;
}

// A search is waited for; a model that takes longer is no help in a conversation.
const queryBudgetMs = 2_000;
const batchBudgetMs = 60_000;
const batchSize = 32;
const firstPauseMs = 30_000;
const longestPauseMs = 15 * 60_000;
const queriesKept = 200;
const nearestMost = 50;
// Of the way from the usual similarity to the best one. Where "usual" lies differs from model to model.
const nearShare = 0.5;

/**
 * Reads the tools of a catalog in the background, by difference, and keeps their vectors in the store. A model that fails is left alone for a
 * while, longer each time, with one warning; searching goes on without it.
 */
export const createToolMeaning = (options: {
  readonly catalog: Catalog;
  readonly model: EmbeddingModel;
  readonly keyValue: KeyValue<StoredVector>;
  readonly clock: Clock;
  readonly log: Log;
}): ToolMeaning => {
  const { catalog, model, clock, log } = options;
  const stored = createStoredVectors(options);
  const index = createVectorIndex();
  const unread = new Map<string, CatalogEntry>();
  // Most recently used last.
  const queries = new Map<string, Promise<Float32Array>>();
  const stopping = new AbortController();
  let reading: Promise<void> | undefined;
  let retry: Timer | undefined;
  let pauseMs = firstPauseMs;
  let pausedUntilMs = 0;

  const failed = (error: unknown): void => {
    if (stopping.signal.aborted || clock.nowMs() < pausedUntilMs) return;
    const facts = { model: model.id, reason: messageOf(error), pauseMs };
    log.warn(facts, 'tools are found by words alone for a while: their meaning could not be read');
    pausedUntilMs = clock.nowMs() + pauseMs;
    retry?.stop();
    retry = clock.startTimer(pauseMs, read);
    pauseMs = Math.min(pauseMs * 2, longestPauseMs);
  };

  const within = async <T>(budgetMs: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    using deadline = startDeadline(clock, budgetMs, { signal: stopping.signal });
    const result = await work(deadline.signal);
    pauseMs = firstPauseMs;
    return result;
  };

  const readBatch = async (): Promise<void> => {
    const batch = [...unread.values()].slice(0, batchSize);
    const texts = batch.map(({ search }) => toEmbeddingText(search));
    const vectors = await within(batchBudgetMs, (signal) => stored.of(texts, signal));
    for (const [at, entry] of batch.entries()) {
      // Else it has changed meanwhile, and is to be read as it is now.
      if (unread.get(entry.typedName) !== entry) continue;
      unread.delete(entry.typedName);
      const isUsable = index.set(entry.typedName, vectors[at] as Float32Array);
      if (!isUsable) log.warn({ model: model.id, tool: entry.typedName }, 'a vector of a tool cannot be used');
    }
  };

  const readAll = async (): Promise<void> => {
    try {
      while (unread.size > 0 && !stopping.signal.aborted) await readBatch();
      await stored.sweep();
    } catch (error) {
      failed(error);
    } finally {
      reading = undefined;
    }
    // What came during the last step.
    read();
  };

  function read(): void {
    if (unread.size > 0 && clock.nowMs() >= pausedUntilMs && !stopping.signal.aborted) reading ??= readAll();
  }

  const stop = catalog.onChange(({ removed, added }) => {
    for (const { typedName } of removed) {
      index.delete(typedName);
      unread.delete(typedName);
    }
    for (const entry of added) unread.set(entry.typedName, entry);
    read();
  });

  const vectorOf = (query: string): Promise<Float32Array> => {
    const known = queries.get(query) ?? embedQuery(query);
    queries.delete(query);
    queries.set(query, known);
    for (const oldest of queries.keys()) if (queries.size > queriesKept) queries.delete(oldest);
    return known;
  };

  const embedQuery = async (query: string): Promise<Float32Array> => {
    try {
      const [vector] = await within(queryBudgetMs, (signal) => orAborted(model.embed([query], signal), signal));
      if (vector) return vector;
      throw new TypeError('the embedding model gave no vector');
    } catch (error) {
      queries.delete(query);
      failed(error);
      throw error;
    }
  };

  return {
    knows: index.has,
    rank: async (query, where) => {
      if (index.size() === 0 || clock.nowMs() < pausedUntilMs) return undefined;
      let vector: Float32Array;
      try {
        vector = await vectorOf(query);
      } catch {
        // It has been logged, and the words are there to go by.
        return undefined;
      }
      const { near, usual } = index.nearest(vector, nearestMost, where);
      const least = usual + nearShare * ((near[0]?.similarity ?? 0) - usual);
      return near.filter(({ similarity }) => similarity >= least).map(({ id }) => id);
    },
    [Symbol.asyncDispose]: async () => {
      stop();
      retry?.stop();
      stopping.abort();
      await reading;
    },
  };
};
