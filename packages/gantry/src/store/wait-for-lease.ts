import { delay } from '../kernel/abort.ts';
import type { Clock } from '../kernel/clock.ts';
import { newId } from '../kernel/ids.ts';
import type { Lease, Leases } from './leases.ts';

/**
 * Claims a name, and waits for it while another owner has it.
 *
 * @param options.ttlMs how long the claim lasts without being renewed; whoever comes after an owner that died waits so long.
 * @param options.lookEveryMs how often it is looked whether the name is free.
 * @param options.onWaiting told once, when another owner has the name.
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
    readonly onWaiting?: (() => void) | undefined;
  },
): Promise<Lease> => {
  const { ttlMs, lookEveryMs, clock, signal, onWaiting } = options;
  const owner = newId();
  for (let looks = 0; ; looks += 1) {
    signal?.throwIfAborted();
    const lease = await leases.acquire(name, owner, ttlMs);
    if (lease) return lease;
    if (looks === 0) onWaiting?.();
    await delay(clock, lookEveryMs, signal);
  }
};
