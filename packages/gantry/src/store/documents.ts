/** A stored document. `revision` starts at 1 and grows by one with every write. */
export interface StoredDocument<T> {
  readonly id: string;
  readonly value: T;
  readonly revision: number;
  readonly writtenAtMs: number;
}

/** A write or delete that happens only if nobody else wrote in between. */
export interface IfRevision {
  /** The revision the caller has read; 0 means there must be no such document yet. */
  readonly ifRevision?: number | undefined;
}

/**
 * A collection of documents by id, for records that are edited: settings, schedules, registrations.
 *
 * `T` must survive JSON. Every write is durable before its promise resolves.
 */
export interface Documents<T> {
  get(id: string): Promise<StoredDocument<T> | undefined>;
  /**
   * Writes the whole document and gives its new revision.
   * @throws {GantryError} `revision_conflict` when `ifRevision` is not what is stored.
   */
  put(id: string, value: T, options?: IfRevision): Promise<number>;
  /**
   * True when there was one.
   * @throws {GantryError} `revision_conflict` when `ifRevision` is not what is stored.
   */
  delete(id: string, options?: IfRevision): Promise<boolean>;
  /** All of them, sorted by id. */
  list(): Promise<StoredDocument<T>[]>;
}
