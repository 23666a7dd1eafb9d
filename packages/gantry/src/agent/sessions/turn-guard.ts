import type { Clock, Timer } from '../../kernel/clock.ts';
import { GantryError, messageOf } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import type { Log } from '../../kernel/log.ts';
import type { Lease, Leases } from '../../store/leases.ts';
import { waitForLease } from '../../store/wait-for-lease.ts';

/** Lets one process at a time answer in a session, of all that share a store. */
export interface TurnGuard {
  /**
   * Waits until no other process answers in the session, then runs the work, which answers turn `number`. Its signal is aborted when there is
   * a reason to end it, or when the claim on the session was lost. `onWaiting` is told when there is another process to wait for: one that
   * answers is asked to end at once, one that died has its claim for 15 s.
   * @throws what the work threw; the reason of `signal`; the reason to end it; {@link GantryError} `lease_lost`.
   */
  run<T>(
    session: string,
    number: number,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<T>,
    onWaiting?: () => void,
  ): Promise<T>;
  /** Whether some process answers in the session now. */
  isBusy(session: string): Promise<boolean>;
}

/** What a guard works with. */
export interface TurnGuardOptions {
  readonly leases: Leases;
  /** Why the answer to turn `number` has to end, for what happened here or in another process; undefined while it may go on. */
  readonly reasonToEnd: (session: string, number: number) => Promise<Error | undefined>;
  readonly clock: Clock;
  readonly log: Log;
}

// Whoever takes over from a process that died waits so long.
const leaseMs = 15_000;
const renewEveryMs = leaseMs / 3;
const lookEveryMs = 500;

/** Makes the guard. */
export const createTurnGuard = (options: TurnGuardOptions): TurnGuard => {
  const { leases, reasonToEnd, clock, log } = options;

  return {
    isBusy: async (session) => {
      const lease = await leases.acquire(session, newId(), lookEveryMs);
      if (lease) await leases.release(lease);
      return lease === undefined;
    },
    run: async (session, number, outer, work, onWaiting) => {
      let lease = await waitForLease(leases, session, { ttlMs: leaseMs, lookEveryMs, clock, signal: outer, onWaiting });
      let renewAtMs = clock.nowMs() + renewEveryMs;
      let timer: Timer | undefined;
      const ending = new AbortController();
      const signal = AbortSignal.any([outer, ending.signal]);

      const look = async (): Promise<void> => {
        try {
          const reason = await reasonToEnd(session, number);
          if (reason) ending.abort(reason);
          else if (clock.nowMs() >= renewAtMs) {
            const renewed = await leases.renew(lease, leaseMs);
            renewAtMs = clock.nowMs() + renewEveryMs;
            if (renewed) lease = renewed;
            else ending.abort(lost(lease));
          }
        } catch (error) {
          log.warn({ session, reason: messageOf(error) }, 'the store could not be asked whether a turn goes on');
          if (clock.nowMs() >= lease.expiresAtMs) ending.abort(lost(lease));
        }
      };
      const watch = (): void => {
        timer = clock.startTimer(lookEveryMs, () => void look().finally(() => timer && !signal.aborted && watch()));
      };

      try {
        await look();
        watch();
        signal.throwIfAborted();
        return await work(signal);
      } catch (error) {
        throw ending.signal.aborted ? ending.signal.reason : error;
      } finally {
        timer?.stop();
        timer = undefined;
        // It would run out by itself.
        await leases
          .release(lease)
          .catch((error: unknown) =>
            log.warn({ session, reason: messageOf(error) }, 'a session could not be given free in the store'),
          );
      }
    },
  };
};

const lost = ({ name, fence }: Lease): GantryError =>
  new GantryError(
    'lease_lost',
    'This process could not keep its claim on the session, and another may be answering in it; the turn was ended.',
    { details: { name, fence } },
  );
