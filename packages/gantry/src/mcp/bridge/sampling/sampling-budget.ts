import type { Clock } from '../../../kernel/clock.ts';

/** What one server may spend of a model in any hour. */
export interface SamplingLimits {
  readonly callsPerHour: number;
  readonly tokensPerHour: number;
}

/** Counts what each server has spent in the last hour, in this process. */
export interface SamplingBudget {
  /**
   * Takes a call with its likely tokens out of the budget, or says why there is nothing left. `settle` puts in their place what it came to.
   */
  take(
    serverId: string,
    tokens: number,
    limits: SamplingLimits,
  ): { readonly refusal: string } | { readonly settle: (tokens: number) => void };
}

const hourMs = 3_600_000;

/** Makes an empty budget. */
export const createSamplingBudget = (clock: Pick<Clock, 'nowMs'>): SamplingBudget => {
  const spent = new Map<string, { readonly atMs: number; tokens: number }[]>();
  return {
    take: (serverId, tokens, { callsPerHour, tokensPerHour }) => {
      const nowMs = clock.nowMs();
      const recent = (spent.get(serverId) ?? []).filter(({ atMs }) => nowMs - atMs < hourMs);
      spent.set(serverId, recent);
      const used = recent.reduce((sum, one) => sum + one.tokens, 0);
      const freeInMinutes = Math.ceil((hourMs - (nowMs - (recent[0]?.atMs ?? nowMs))) / 60_000);
      if (recent.length >= callsPerHour)
        return {
          refusal: `it has used its ${callsPerHour} answers of this hour; the next in ${freeInMinutes} minutes`,
        };
      if (used + tokens > tokensPerHour)
        return { refusal: `it would spend more than its ${tokensPerHour} tokens an hour` };
      const entry = { atMs: nowMs, tokens };
      recent.push(entry);
      return {
        settle: (actual) => {
          entry.tokens = actual;
        },
      };
    },
  };
};
