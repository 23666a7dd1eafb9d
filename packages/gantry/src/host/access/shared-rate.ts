import { orAborted, startDeadline } from '../../kernel/abort.ts';
import type { Clock } from '../../kernel/clock.ts';
import { messageOf } from '../../kernel/errors.ts';
import type { Log } from '../../kernel/log.ts';
import type { Documents } from '../../store/documents.ts';
import { editDocument } from '../../store/edit-document.ts';
import type { CallRate } from './local-rate.ts';
import { createLocalRate } from './local-rate.ts';
import { sweepWindows } from './sweep-windows.ts';

/** What all processes together have taken of a client's calls in one minute. */
export interface RateWindow {
  /** The minute, counted from the epoch. */
  readonly minute: number;
  readonly taken: number;
}

/** What this process has of it. */
interface Share {
  minute: number;
  left: number;
  /** Nothing is left in the store for this minute. */
  isSpent: boolean;
  claiming: Promise<void> | undefined;
}

const minuteMs = 60_000;
// A share is taken at once so that few calls wait for the store, and is small enough that little of it lies with a process that is not asked.
const shareOf = (left: number): number => Math.max(1, Math.floor(left / 8));
const patienceMs = 2_000;
const awayMs = 5_000;
const sweepMs = 60 * minuteMs;
const mostClients = 10_000;

/**
 * Counts calls over all processes on one store: each takes a share of the minute's calls out of the store at a time, so that together they
 * never let in more than the limit. While the store is away each counts for itself.
 */
export const createSharedRate = (options: {
  readonly windows: Documents<RateWindow>;
  readonly clock: Clock;
  readonly log: Log;
}): CallRate => {
  const { windows, clock, log } = options;
  const local = createLocalRate(clock);
  const shares = new Map<string, Share>();
  let awayUntilMs = -Infinity;
  let isTold = false;
  let sweptMs = -Infinity;

  /** Tokens and clients come and go; what was counted of them goes too. */
  const sweep = (): void => {
    if (clock.elapsedMs() - sweptMs < sweepMs) return;
    sweptMs = clock.elapsedMs();
    sweepWindows(windows, Math.floor(clock.nowMs() / minuteMs)).catch((error: unknown) =>
      log.warn({ reason: messageOf(error) }, 'old counts of calls could not be swept; tried again in an hour'),
    );
  };

  const shareFor = (client: string): Share => {
    const minute = Math.floor(clock.nowMs() / minuteMs);
    let share = shares.get(client);
    if (!share) {
      if (shares.size >= mostClients) for (const name of shares.keys()) if (shares.delete(name)) break;
      share = { minute, left: 0, isSpent: false, claiming: undefined };
      shares.set(client, share);
    }
    // What was not used by then is void, or two minutes would be spent in one.
    if (share.minute !== minute) Object.assign(share, { minute, left: 0, isSpent: false });
    return share;
  };

  const claim = async (client: string, share: Share, perMinute: number): Promise<void> => {
    const { minute } = share;
    let got = 0;
    using deadline = startDeadline(clock, patienceMs);
    const edited = editDocument(windows, client, (stored) => {
      // A process whose clock is behind takes of the minute that others have begun, and does not begin the last one anew.
      const current = stored?.minute === minute + 1 ? stored.minute : minute;
      const taken = stored?.minute === current ? stored.taken : 0;
      got = taken < perMinute ? shareOf(perMinute - taken) : 0;
      return got === 0 ? undefined : { minute: current, taken: taken + got };
    });
    await orAborted(edited, deadline.signal);
    sweep();
    if (share.minute !== minute) return;
    share.left += got;
    share.isSpent = got === 0;
  };

  return {
    take: async (client, perMinute) => {
      for (;;) {
        if (clock.elapsedMs() < awayUntilMs) return local.take(client, perMinute);
        const share = shareFor(client);
        if (share.left > 0) {
          share.left -= 1;
          return undefined;
        }
        if (share.isSpent) return Math.ceil((minuteMs - (clock.nowMs() % minuteMs)) / 1_000);
        share.claiming ??= claim(client, share, perMinute).finally(() => (share.claiming = undefined));
        try {
          await share.claiming;
          isTold = false;
        } catch (error) {
          awayUntilMs = clock.elapsedMs() + awayMs;
          if (!isTold)
            log.warn(
              { reason: messageOf(error) },
              'the limits of clients cannot be counted over all processes; until the store is back each counts for itself',
            );
          isTold = true;
        }
      }
    },
  };
};
