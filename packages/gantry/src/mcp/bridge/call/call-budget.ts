import type { Clock, Timer } from '../../../kernel/clock.ts';

/** Why a call was ended before its answer. */
export type EndReason = 'silent' | 'too_long' | 'cancelled' | 'stopped';

/** The time a call may take. Dispose it when the call is over. */
export interface CallBudget extends Disposable {
  /** Aborts when the time is up or the caller gives up. Its reason is a fixed text, because it is sent to the server. */
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly maxTimeoutMs: number;
  /** Set once the signal has aborted. */
  readonly ended: EndReason | undefined;
  /** The server reported progress: the time without news starts again, the most a call may take does not. */
  progressed(): void;
  /** Waiting for an answer is not the server's silence: until it is disposed only the most a call may take counts. */
  pause(): Disposable;
  /** Ends the call. */
  end(reason: EndReason): void;
}

const sentReasons: Readonly<Record<EndReason, string>> = {
  silent: 'timed out',
  too_long: 'timed out',
  cancelled: 'cancelled by the caller',
  stopped: 'the client is stopping',
};

/** Starts the clock of a call: at most `timeoutMs` without news, and at most `maxTimeoutMs` altogether. */
export const startCallBudget = (
  clock: Clock,
  { timeoutMs, maxTimeoutMs }: { timeoutMs: number; maxTimeoutMs: number },
): CallBudget => {
  const controller = new AbortController();
  const startedMs = clock.elapsedMs();
  let timer: Timer;
  let pauses = 0;

  const arm = (): void => {
    const leftMs = maxTimeoutMs - (clock.elapsedMs() - startedMs);
    timer =
      pauses > 0 || leftMs <= timeoutMs
        ? clock.startTimer(leftMs, () => end(tooLong()))
        : clock.startTimer(timeoutMs, silent);
  };
  const silent = (): void => end('silent');
  const tooLong = (): EndReason => (maxTimeoutMs > timeoutMs ? 'too_long' : 'silent');
  const end = (reason: EndReason): void => {
    if (budget.ended) return;
    budget.ended = reason;
    timer.stop();
    controller.abort(sentReasons[reason]);
  };

  const rearm = (): void => {
    if (budget.ended) return;
    timer.stop();
    arm();
  };

  const budget: { -readonly [Key in keyof CallBudget]: CallBudget[Key] } = {
    signal: controller.signal,
    timeoutMs,
    maxTimeoutMs,
    ended: undefined,
    progressed: rearm,
    pause: () => {
      pauses += 1;
      rearm();
      return {
        [Symbol.dispose]: () => {
          pauses -= 1;
          rearm();
        },
      };
    },
    end,
    [Symbol.dispose]: () => timer.stop(),
  };
  arm();
  return budget;
};

/** The time a call gets: what the caller asked for, else the default; the entry's own limit goes before both, the ceiling before all. */
export const callTimeoutMs = (
  requestedMs: number | undefined,
  entryMs: number | undefined,
  settings: { readonly defaultTimeoutMs: number; readonly maxTimeoutMs: number },
): number => {
  const own = entryMs !== undefined && entryMs > 0 ? entryMs : undefined;
  const asked = requestedMs !== undefined && requestedMs > 0 ? requestedMs : undefined;
  return Math.min(own ?? asked ?? settings.defaultTimeoutMs, settings.maxTimeoutMs);
};
