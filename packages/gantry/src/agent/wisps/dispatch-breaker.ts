import type { Clock } from '../../kernel/clock.ts';

/** Stops an agent that sends the same pipeline over and over. */
export interface DispatchBreaker {
  /** Counts a dispatch; false when there were too many of this definition lately. */
  admit(hash: string): boolean;
}

/** Dispatches of one definition within five minutes. */
export const mostDispatches = 30;
const windowMs = 5 * 60_000;

/** Makes a breaker that has seen nothing. */
export const createDispatchBreaker = (clock: Clock): DispatchBreaker => {
  const seen = new Map<string, number[]>();
  return {
    admit: (hash) => {
      const sinceMs = clock.elapsedMs() - windowMs;
      for (const [key, times] of seen) if ((times.at(-1) ?? 0) <= sinceMs) seen.delete(key);
      const recent = (seen.get(hash) ?? []).filter((time) => time > sinceMs);
      if (recent.length >= mostDispatches) return false;
      seen.set(hash, [...recent, clock.elapsedMs()]);
      return true;
    },
  };
};
