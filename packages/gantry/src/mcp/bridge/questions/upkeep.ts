import type { Clock, Timer } from '../../../kernel/clock.ts';
import { messageOf } from '../../../kernel/errors.ts';
import type { Log } from '../../../kernel/log.ts';
import type { Ledger, LedgerEntry } from '../../../store/ledger.ts';
import { signTtlMs } from './answering.ts';
import type { QuestionRecord } from './question-record.ts';

const purgeAfterMs = 24 * 3_600_000;
// A clock that was set back, or another process's question, is noticed within that.
const longestWaitMs = 3_600_000;

/** Looks after questions that expire, calls that were interrupted, and entries that are old. One timer for all of them. */
export interface Upkeep extends AsyncDisposable {
  start(): Promise<void>;
  /** A question was stored that expires then. */
  expiresAt(atMs: number): void;
  /** Forgets old entries with the next look at the latest. */
  purgeSoon(): void;
}

/** Makes the upkeep of a ledger. */
export const createUpkeep = (options: {
  readonly ledger: Ledger<QuestionRecord>;
  readonly clock: Clock;
  readonly log: Log;
  readonly isAlive: (id: string) => Promise<boolean>;
  readonly onExpired: (entry: LedgerEntry<QuestionRecord>) => Promise<unknown>;
  /** Its answer was sent on, and the process that did so has ended before the call had. */
  readonly onInterrupted: (entry: LedgerEntry<QuestionRecord>) => Promise<void>;
}): Upkeep => {
  const { ledger, clock, log, isAlive, onExpired, onInterrupted } = options;
  let timer: { readonly atMs: number; readonly timer: Timer } | undefined;
  let working: Promise<void> = Promise.resolve();
  let isStopped = false;

  const findInterrupted = async (): Promise<boolean> => {
    let isAnyAlive = false;
    for (const entry of await ledger.list({ open: false })) {
      const { settlement, value } = entry;
      const isRunning = settlement?.as === 'answered' || settlement?.as === 'declined';
      if (!isRunning || value.endedAtMs !== undefined || value.notifiedAtMs !== undefined) continue;
      if (await isAlive(entry.id)) isAnyAlive = true;
      else await onInterrupted(entry);
    }
    return isAnyAlive;
  };

  const look = async (): Promise<void> => {
    try {
      for (const entry of await ledger.expire()) await onExpired(entry);
      const isAnyAlive = await findInterrupted();
      await ledger.purge(clock.nowMs() - purgeAfterMs);
      const next = await ledger.nextExpiryMs();
      arm(Math.min(next ?? Infinity, clock.nowMs() + (isAnyAlive ? signTtlMs + 1 : longestWaitMs)));
    } catch (error) {
      log.warn({ reason: messageOf(error) }, 'open questions could not be looked after; the next try is in a minute');
      arm(clock.nowMs() + 60_000);
    }
  };

  const arm = (atMs: number): void => {
    if (isStopped || (timer && timer.atMs <= atMs)) return;
    timer?.timer.stop();
    timer = {
      atMs,
      timer: clock.startTimer(Math.max(0, atMs - clock.nowMs()), () => {
        timer = undefined;
        working = working.then(look);
      }),
    };
  };

  return {
    start: () => (working = working.then(look)),
    expiresAt: arm,
    purgeSoon: () => arm(clock.nowMs() + longestWaitMs),
    [Symbol.asyncDispose]: async () => {
      isStopped = true;
      timer?.timer.stop();
      await working;
    },
  };
};
