import { delay } from '../../kernel/abort.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { KeyValue } from '../../store/key-value.ts';

/** What processes on one store leave for the one that answers in a session: that its turn is to end. */
export interface SessionInterrupts {
  /** Whether the turn is to end; said once. */
  take(session: string): Promise<boolean>;
  /** Has the turn of another process ended; false when nobody heard of it within 2 s, because the turn came to its end by itself. */
  leave(session: string): Promise<boolean>;
}

const waitMs = 2_000;
const lookEveryMs = 250;

/** Makes them over a space of the store. */
export const createSessionInterrupts = ({
  keyValue,
  clock,
}: {
  readonly keyValue: KeyValue<true>;
  readonly clock: Clock;
}): SessionInterrupts => ({
  // A look is cheaper than a delete, and mostly there is nothing.
  take: async (session) => (await keyValue.get(session)) !== undefined && (await keyValue.delete(session)),
  leave: async (session) => {
    await keyValue.set(session, true, { ttlMs: waitMs });
    for (let waitedMs = 0; waitedMs < waitMs; waitedMs += lookEveryMs) {
      await delay(clock, lookEveryMs);
      if (!(await keyValue.get(session))) return true;
    }
    return !(await keyValue.delete(session));
  },
});
