import type { Clock } from '../kernel/clock.ts';
import { GantryError } from '../kernel/errors.ts';
import type { Log } from '../kernel/log.ts';
import type { KeyValue, KeyValueEntry } from '../store/key-value.ts';
import type { StashText } from '../tool/ports.ts';
import { foldKey, namespaceOf, normalizeKey } from './memory-key.ts';

/** What the store holds for an entry. */
export interface MemoryRecord {
  /** The key as it was written last; the store's own key is folded. */
  readonly key: string;
  readonly text: string;
  readonly category?: string | undefined;
  readonly tags?: readonly string[] | undefined;
}

/** A live entry. */
export interface MemoryEntry extends MemoryRecord {
  /** Full path: `session/{id}/…`. */
  readonly key: string;
  readonly savedAtMs: number;
  readonly expiresAtMs: number;
}

/** How an entry is kept. */
export interface KeepOptions {
  /** Default: the memory's own, 5 minutes. */
  readonly ttlMs?: number | undefined;
  readonly category?: string | undefined;
  readonly tags?: readonly string[] | undefined;
}

/**
 * Notes that agents keep for minutes or hours, by path: `session/{id}/…`, `subagent/{id}/…`, `shared/…`. The first two segments
 * are the namespace (`shared` is one by itself). Keys compare without regard to case. Entries live in the store, so a restart
 * leaves them with the time they had left.
 */
export interface WorkingMemory extends AsyncDisposable {
  /**
   * Writes or replaces an entry under its full key.
   * @throws {GantryError} `memory_refused` for a new key when the namespace is full, or for a blank key.
   */
  save(key: string, text: string, options?: KeepOptions): Promise<MemoryEntry>;
  /** Keeps a text that a list of keys is going to name: outside the cap, and not counted towards it, so that no key is missing. */
  readonly stash: StashText;
  get(key: string): Promise<MemoryEntry | undefined>;
  /** True when there was one. */
  delete(key: string): Promise<boolean>;
  /** What is at or below a path (whole segments; the empty path is everything), newest first. */
  list(path: string): Promise<MemoryEntry[]>;
}

const defaultTtlMs = 5 * 60_000;
const defaultMaxEntries = 50;
const firstSweepMs = 60_000;
const sweepEveryMs = 3_600_000;

/** Makes a working memory over a space of the store, and frees expired entries every hour until it is disposed. */
export const createWorkingMemory = (options: {
  readonly keyValue: KeyValue<MemoryRecord>;
  readonly clock: Clock;
  readonly log: Log;
  /** Live entries a namespace may have, stashed ones aside. Default 50. */
  readonly maxEntriesPerNamespace?: number | undefined;
  /** Default 5 minutes. */
  readonly defaultTtlMs?: number | undefined;
}): WorkingMemory => {
  const { keyValue, clock, log } = options;
  const maxEntries = options.maxEntriesPerNamespace ?? defaultMaxEntries;
  const usualTtlMs = options.defaultTtlMs ?? defaultTtlMs;

  const write = async (key: string, text: string, keep: KeepOptions, capped: boolean): Promise<MemoryEntry> => {
    const record = { key: normalizeKey(key), text, category: keep.category, tags: keep.tags };
    if (record.key === '')
      throw new GantryError('memory_refused', 'A working memory key must not be blank.', { details: { key } });
    const ttlMs = keep.ttlMs ?? usualTtlMs;
    const namespace = namespaceOf(key);
    const cap = capped ? { under: namespace, maxEntries } : undefined;
    const savedAtMs = clock.nowMs();
    if (await keyValue.set(foldKey(key), record, { ttlMs, cap }))
      return { ...record, savedAtMs, expiresAtMs: savedAtMs + ttlMs };
    log.warn({ key: record.key, namespace, maxEntries }, 'A working memory entry was refused: its namespace is full.');
    throw new GantryError(
      'memory_refused',
      `"${record.key}" was not saved: ${namespace} holds ${maxEntries} entries, which is the most. Delete one that is no longer needed, or save under a key that exists.`,
      { details: { key: record.key } },
    );
  };

  let sweeping = Promise.resolve();
  const sweep = async (): Promise<void> => {
    try {
      const swept = await keyValue.sweep();
      if (swept > 0) log.debug({ swept }, 'Expired working memory entries were freed.');
    } catch (error) {
      log.warn({ err: error }, 'Expired working memory entries could not be freed; the next try is in an hour.');
    }
  };
  const onSweep = (): void => {
    sweeping = sweep();
    timer = clock.startTimer(sweepEveryMs, onSweep);
  };
  let timer = clock.startTimer(firstSweepMs, onSweep);

  return {
    save: (key, text, keep = {}) => write(key, text, keep, true),
    stash: async ({ namespace, key, text, category, ttlMs }) =>
      (await write(`${namespace}/${key}`, text, { category, ttlMs }, false)).key,
    get: async (key) => {
      const entry = await keyValue.get(foldKey(key));
      return entry && toMemoryEntry(entry);
    },
    delete: (key) => keyValue.delete(foldKey(key)),
    list: async (path) => {
      const entries = await keyValue.list(foldKey(path));
      return entries.map(toMemoryEntry).sort((a, b) => b.savedAtMs - a.savedAtMs);
    },
    [Symbol.asyncDispose]: async () => {
      timer.stop();
      await sweeping;
    },
  };
};

const toMemoryEntry = ({ value, writtenAtMs, expiresAtMs }: KeyValueEntry<MemoryRecord>): MemoryEntry => ({
  ...value,
  savedAtMs: writtenAtMs,
  expiresAtMs: expiresAtMs ?? Number.POSITIVE_INFINITY,
});
