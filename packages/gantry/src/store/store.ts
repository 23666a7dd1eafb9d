import type { Documents } from './documents.ts';
import type { KeyValue } from './key-value.ts';
import type { Lease, Leases } from './leases.ts';
import type { Ledger } from './ledger.ts';
import type { Secrets } from './secrets.ts';

/**
 * The durable shapes. Handles are cheap and hold no state: make them where they are needed. A key, id, name or owner that holds a NUL
 * character or half of a surrogate pair is refused where it is written (`invalid_arguments`), and nowhere found.
 */
export interface Shapes {
  /** Values with a time to live. Spaces do not see each other. */
  keyValue<T>(space: string): KeyValue<T>;
  documents<T>(collection: string): Documents<T>;
  ledger<T>(name: string): Ledger<T>;
}

/**
 * Where everything lives that must survive a restart. Safe for several processes at once. A write is durable before its promise
 * resolves, and a crash loses nothing that was acknowledged; each write is one transaction.
 */
export interface Store extends Shapes, AsyncDisposable {
  readonly leases: Leases;
  readonly secrets: Secrets;
  /** The same shapes, whose writes fail with `lease_lost` unless the lease is current in the same transaction. */
  withLease(lease: Lease): Shapes;
}
