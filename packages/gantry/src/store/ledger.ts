/** How an entry ended. */
export interface Settlement {
  /** One word of the owner's own vocabulary: `answered`, `cancelled` …; `expired` is what {@link Ledger.expire} writes. */
  readonly as: string;
  /** For whoever comes too late. Never an answer or a secret. */
  readonly reason?: string | undefined;
}

/** What is put into a ledger. */
export interface NewLedgerEntry<T> {
  readonly id: string;
  /** Whose it is, a session say; caps count by it. */
  readonly owner: string;
  /** What else it belongs to, a server say. */
  readonly group?: string | undefined;
  /** From then on it cannot be taken any more. Absent: it stays open until it is taken. */
  readonly expiresAtMs?: number | undefined;
  readonly value: T;
}

/** An entry as it is stored; open while it has no settlement. */
export interface LedgerEntry<T> extends NewLedgerEntry<T> {
  readonly createdAtMs: number;
  readonly settlement?: (Settlement & { readonly atMs: number }) | undefined;
}

/** Which entries; all that are named must fit. */
export interface LedgerFilter {
  /** Default: open and settled ones. */
  readonly open?: boolean | undefined;
  readonly owner?: string | undefined;
  readonly group?: string | undefined;
  readonly expiringBeforeMs?: number | undefined;
}

/** How many open entries there may be, counting the new one. */
export interface LedgerCaps {
  readonly maxOpen?: number | undefined;
  readonly maxOpenOfOwner?: number | undefined;
}

/**
 * Durable record of open things (questions, background tasks): each is settled once, by one of however many try, in whatever
 * process they run. What is announced is already on disk: every write is durable before its promise resolves.
 *
 * Entries cost nothing while they wait. Keep one timer at {@link Ledger.nextExpiryMs} and call {@link Ledger.expire} when it
 * fires. `T` must survive JSON.
 */
export interface Ledger<T> {
  /**
   * Stores an open entry; the caps are checked in the same step.
   * @throws {GantryError} `record_exists` when the id was used before, settled or not; `limit_reached` when a cap is met.
   */
  put(entry: NewLedgerEntry<T>, caps?: LedgerCaps): Promise<void>;
  get(id: string): Promise<LedgerEntry<T> | undefined>;
  /** Changes the value of an entry, open or settled, and gives the entry as it is then; undefined when there is none. */
  update(id: string, change: (value: T) => T): Promise<LedgerEntry<T> | undefined>;
  /** Settles and returns the entry, so one of several takers gets it; undefined for the others and once it has expired. */
  take(id: string, settlement: Settlement): Promise<LedgerEntry<T> | undefined>;
  /** Takes a settlement back, so that the entry can be taken again while its time lasts; undefined when it is not settled. */
  reopen(id: string): Promise<LedgerEntry<T> | undefined>;
  /** Oldest first, or soonest to expire first when `expiringBeforeMs` is given. */
  list(filter?: LedgerFilter & { readonly limit?: number | undefined }): Promise<LedgerEntry<T>[]>;
  count(filter?: LedgerFilter): Promise<number>;
  /** When the next open entry expires (epoch ms); in the past when {@link Ledger.expire} is due. */
  nextExpiryMs(): Promise<number | undefined>;
  /** Settles every open entry whose time has passed as `expired`, and returns those it settled. */
  expire(): Promise<LedgerEntry<T>[]>;
  /** Forgets entries that were settled before that time; gives how many. */
  purge(settledBeforeMs: number): Promise<number>;
}
