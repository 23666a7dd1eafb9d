import type { Clock, Timer } from '../../kernel/clock.ts';
import { GantryError, messageOf } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import type { Log } from '../../kernel/log.ts';
import type { ProcessMark } from '../../kernel/process-mark.ts';
import { isProcessGone, ownProcessMark } from '../../kernel/process-mark.ts';
import type { KeyValue } from '../../store/key-value.ts';
import type { Lease, Leases } from '../../store/leases.ts';
import { waitForLease } from '../../store/wait-for-lease.ts';

/** Lets one process at a time answer in a session, of all that share a store. */
export interface TurnGuard {
  /**
   * Waits until no other process answers in the session, then runs the work, which answers turn `number`. Its signal is aborted when there is
   * a reason to end it, or when the claim on the session was lost. `onWaiting` is told when there is another process to wait for: one that
   * answers is asked to end at once, one that died has its claim for 15 s. A process of this machine that is known to have died is not waited for.
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

/** Who has a session, as others can look it up. */
export interface TurnHolder {
  readonly lease: Lease;
  readonly process: ProcessMark;
}

/** What a guard works with. */
export interface TurnGuardOptions {
  readonly leases: Leases;
  readonly holders: KeyValue<TurnHolder>;
  /** Why the answer to turn `number` has to end, for what happened here or in another process; undefined while it may go on. */
  readonly reasonToEnd: (session: string, number: number) => Promise<Error | undefined>;
  /** Names this process; default by what the system says. */
  readonly ownMark?: ProcessMark | undefined;
  /** Default: asks the system. */
  readonly isGone?: ((process: ProcessMark) => boolean) | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

// Whoever takes over from a process that died waits so long.
const leaseMs = 15_000;
const renewEveryMs = leaseMs / 3;
const lookEveryMs = 500;
/** Longer than any turn. */
const holderTtlMs = 24 * 3_600_000;

/** Makes the guard. */
export const createTurnGuard = (options: TurnGuardOptions): TurnGuard => {
  const { leases, holders, reasonToEnd, isGone = isProcessGone, clock, log } = options;
  const ownMark = options.ownMark ?? ownProcessMark();

  /** What only makes a takeover faster must not fail a turn. */
  const quietly = async (session: string, work: () => Promise<unknown>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      log.warn({ session, reason: messageOf(error) }, 'it could not be noted in the store who answers in a session');
    }
  };
  // Releasing does nothing when the claim went to another since.
  const releaseOfDead = (session: string): Promise<void> =>
    quietly(session, async () => {
      const holder = (await holders.get(session))?.value;
      if (holder && isGone(holder.process)) await leases.release(holder.lease);
    });

  return {
    isBusy: async (session) => {
      const lease = await leases.acquire(session, newId(), lookEveryMs);
      if (lease) await leases.release(lease);
      return lease === undefined;
    },
    run: async (session, number, outer, work, onWaiting) => {
      await releaseOfDead(session);
      let lease = await waitForLease(leases, session, { ttlMs: leaseMs, lookEveryMs, clock, signal: outer, onWaiting });
      if (ownMark) {
        const holder: TurnHolder = { lease, process: ownMark };
        await quietly(session, () => holders.set(session, holder, { ttlMs: holderTtlMs }));
      }
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
        // Before the claim goes to another, who writes the same.
        if (ownMark) await quietly(session, () => holders.delete(session));
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
