/** A time-limited claim to be the only one who does something. */
export interface Lease {
  readonly name: string;
  readonly ownerId: string;
  /** Grows with every acquisition of that name, so a later owner always has the higher number. */
  readonly fence: number;
  readonly expiresAtMs: number;
}

/**
 * Claims that processes sharing a store make on names: one owner at a time. A lease that ran out, or was released, goes to the
 * next who asks. To be safe against an owner that was asleep while its lease went to another, write through
 * `store.withLease(lease)`.
 */
export interface Leases {
  /**
   * Claims the name for `ttlMs`; undefined while another owner holds it. An owner that asks again gets it anew with a higher
   * fence, and its earlier lease is lost: a restarted process with a stable id does not wait for itself.
   */
  acquire(name: string, ownerId: string, ttlMs: number): Promise<Lease | undefined>;
  /** Prolongs to `ttlMs` from now, also when it ran out but nobody took it; undefined once it is lost. */
  renew(lease: Lease, ttlMs: number): Promise<Lease | undefined>;
  /** Frees the name at once. Does nothing when the lease is lost. */
  release(lease: Lease): Promise<void>;
  /** True while the lease has neither run out nor gone to another owner. Ask before acting on the outside world. */
  isCurrent(lease: Lease): Promise<boolean>;
}
