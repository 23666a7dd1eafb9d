import type { Clock } from '../../../kernel/clock.ts';
import { messageOf } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import type { Log } from '../../../kernel/log.ts';
import type { Documents } from '../../../store/documents.ts';
import { editDocument } from '../../../store/edit-document.ts';

/** What one server may spend of a model in any hour. */
export interface SamplingLimits {
  readonly callsPerHour: number;
  readonly tokensPerHour: number;
}

/** A call that was taken out of the budget. */
export interface TakenCall {
  /** Puts in the place of the likely tokens what it came to. Where that cannot be written, the likely ones stay. */
  settle(tokens: number): Promise<void>;
}

/** Counts what each server has spent in the last hour, in all processes on one store. */
export interface SamplingBudget {
  /** Takes a call with its likely tokens out of the budget, or says why there is nothing left, or nothing can be counted. */
  take(
    serverId: string,
    tokens: number,
    limits: SamplingLimits,
  ): Promise<{ readonly refusal: string } | { readonly taken: TakenCall }>;
}

/** The calls of a server, oldest first. */
export type SpentCalls = readonly { readonly id: string; readonly atMs: number; readonly tokens: number }[];

const hourMs = 3_600_000;

/** Makes the budget; what was spent outlives the process. */
export const createSamplingBudget = ({
  spent,
  clock,
  log,
}: {
  readonly spent: Documents<SpentCalls>;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly log: Log;
}): SamplingBudget => ({
  take: async (serverId, tokens, limits) => {
    const id = newId();
    let refusal: string | undefined;
    try {
      await editDocument(spent, serverId, (stored = []) => {
        const nowMs = clock.nowMs();
        const recent = stored.filter(({ atMs }) => nowMs - atMs < hourMs);
        refusal = refusalOf(recent, tokens, limits, nowMs);
        return refusal === undefined ? [...recent, { id, atMs: nowMs, tokens }] : undefined;
      });
    } catch (error) {
      log.warn({ server: serverId, reason: messageOf(error) }, 'the budget of a server for models cannot be counted');
      return { refusal: 'what it has used of its budget cannot be found out now' };
    }
    if (refusal !== undefined) return { refusal };
    const settle = async (actual: number): Promise<void> => {
      try {
        await editDocument(spent, serverId, (stored) =>
          stored?.map((call) => (call.id === id ? { ...call, tokens: actual } : call)),
        );
      } catch (error) {
        log.warn(
          { server: serverId, reason: messageOf(error) },
          'what a server used of its budget could not be written',
        );
      }
    };
    return { taken: { settle } };
  },
});

const refusalOf = (
  recent: SpentCalls,
  tokens: number,
  { callsPerHour, tokensPerHour }: SamplingLimits,
  nowMs: number,
): string | undefined => {
  const used = recent.reduce((sum, one) => sum + one.tokens, 0);
  const freeInMinutes = Math.ceil((hourMs - (nowMs - (recent[0]?.atMs ?? nowMs))) / 60_000);
  if (recent.length >= callsPerHour)
    return `it has used its ${callsPerHour} answers of this hour; the next in ${freeInMinutes} minutes`;
  if (used + tokens > tokensPerHour) return `it would spend more than its ${tokensPerHour} tokens an hour`;
  return undefined;
};
