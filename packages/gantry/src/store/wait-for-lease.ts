import { delay } from '../kernel/abort.ts';
import type { Clock } from '../kernel/clock.ts';
import { newId } from '../kernel/ids.ts';
import type { Lease, Leases } from './leases.ts';

/**
 * Claims a name, and waits for it while another owner has it.
 *
 * @param options.ttlMs how long the claim lasts without being renewed; whoever comes after an owner that died waits so long.
 * @param options.lookEveryMs how often it is looked whether the name is free.
 * @throws the reason of the signal when it comes first.
 */
export const waitForLease = async (
  leases: Leases,
  name: string,
  options: {
    readonly ttlMs: number;
    readonly lookEveryMs: number;
    readonly clock: Clock;
    readonly signal?: AbortSignal | undefined;
  },
): Promise<Lease> => {
  const { ttlMs, lookEveryMs, clock, signal } = options;
  const owner = newId();
  for (;;) {
    signal?.throwIfAborted();
    const lease = await leases.acquire(name, owner, ttlMs);
    if (lease) return lease;
    await delay(clock, lookEveryMs, signal);
  }
};
