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

/** How a document is written. */
export interface PutOptions extends IfRevision {
  /** A whole number that says where the document stands in {@link Documents.earliest}; absent: nowhere. */
  readonly order?: number | undefined;
}

/** Which part of a collection is read. */
export interface ListOptions {
  /** Only ids that come after this one. */
  readonly after?: string | undefined;
  /** At most so many. */
  readonly limit?: number | undefined;
}

/** A document with the number it was written with. */
export interface OrderedDocument<T> extends StoredDocument<T> {
  readonly order: number;
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
  put(id: string, value: T, options?: PutOptions): Promise<number>;
  /**
   * True when there was one.
   * @throws {GantryError} `revision_conflict` when `ifRevision` is not what is stored.
   */
  delete(id: string, options?: IfRevision): Promise<boolean>;
  /** All of them, or a part, sorted by id. */
  list(options?: ListOptions): Promise<StoredDocument<T>[]>;
  /** The documents with the lowest numbers, lowest first; at most `limit`. Cheap however many there are. */
  earliest(limit: number): Promise<OrderedDocument<T>[]>;
}
