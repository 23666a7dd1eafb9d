/** A value with what the store knows about it. */
export interface KeyValueEntry<T> {
  readonly key: string;
  readonly value: T;
  readonly writtenAtMs: number;
  /** Absent: it stays until it is deleted. */
  readonly expiresAtMs?: number | undefined;
}

/** A limit on how many entries a path may hold. Only entries that were written under a cap count towards one. */
export interface EntryCap {
  /** The path whose entries are counted. */
  readonly under: string;
  readonly maxEntries: number;
}

/**
 * Values by key, with an optional time to live. Keys are paths of segments divided by `/` and compare exactly; a path given
 * to `list` or `count` means itself and everything below it (`a/b` takes in `a/b` and `a/b/c`, not `a/bc`), and the empty path
 * means everything. An expired entry is gone for every reader at the moment it expires, swept or not.
 *
 * `T` must survive JSON. Every write is durable before its promise resolves.
 */
export interface KeyValue<T> {
  get(key: string): Promise<KeyValueEntry<T> | undefined>;
  /**
   * Writes, replacing what is there. With a `cap`, a key that is not live yet is refused when the path is full; checking and
   * writing are one step.
   * @returns false when the cap refused it.
   */
  set(
    key: string,
    value: T,
    options?: { readonly ttlMs?: number | undefined; readonly cap?: EntryCap | undefined },
  ): Promise<boolean>;
  /** True when a live entry was there. */
  delete(key: string): Promise<boolean>;
  /** Live entries, sorted by key. */
  list(under: string): Promise<KeyValueEntry<T>[]>;
  /** How many live entries there are, counted towards a cap or not. */
  count(under: string): Promise<number>;
  /** Frees the space of expired entries; gives how many. */
  sweep(): Promise<number>;
}
