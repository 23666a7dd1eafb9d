import type { Clock } from '../../kernel/clock.ts';

/** Counts the calls that clients make in a minute. */
export interface CallRate {
  /** Counts a call; gives in how many seconds there may be another one instead, when it is one too many. */
  take(client: string, perMinute: number): number | undefined | Promise<number | undefined>;
}

// Clients come and go, and their names with them.
const mostClients = 10_000;

/** Counts what reaches this process, by a bucket that is refilled with time. */
export const createLocalRate = (
  clock: Pick<Clock, 'elapsedMs'>,
): { take(...args: Parameters<CallRate['take']>): number | undefined } => {
  const buckets = new Map<string, { tokens: number; refilledAtMs: number }>();
  return {
    take: (client, perMinute) => {
      const nowMs = clock.elapsedMs();
      const bucket = buckets.get(client) ?? { tokens: perMinute, refilledAtMs: nowMs };
      // The one that was used the longest ago is full again, most likely.
      buckets.delete(client);
      if (buckets.size >= mostClients) for (const name of buckets.keys()) if (buckets.delete(name)) break;
      buckets.set(client, bucket);
      bucket.tokens = Math.min(perMinute, bucket.tokens + ((nowMs - bucket.refilledAtMs) * perMinute) / 60_000);
      bucket.refilledAtMs = nowMs;
      if (bucket.tokens < 1) return Math.ceil(((1 - bucket.tokens) * 60) / perMinute);
      bucket.tokens -= 1;
      return undefined;
    },
  };
};
