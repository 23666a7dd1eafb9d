import type { Clock, Timer } from '../../../kernel/clock.ts';
import { noAnswerWithin } from '../../wire/no-answer.ts';
import type { PassTarget } from '../../wire/pass-port.ts';
import type { Exchange } from '../../wire/sessions/exchange.ts';

/** Bounds how long a server may be silent while a request waits for it. */
export interface Silence extends Disposable {
  /** Aborts when it was silent for too long, and with the signal of the request. */
  readonly signal: AbortSignal;
  /** Something was heard. */
  broken(): void;
  /** Somebody answers the server meanwhile, so its silence does not count until this is disposed. */
  hold(): Disposable;
}

/** Starts to listen for a request to this server. */
export const startSilence = (
  { name, callTimeoutMs, maxCallTimeoutMs }: Pick<PassTarget, 'name' | 'callTimeoutMs' | 'maxCallTimeoutMs'>,
  clock: Clock,
  outer: AbortSignal,
): Silence => {
  const ending = new AbortController();
  let timer: Timer | undefined;
  let held = 0;
  let heldMs = 0;
  let heldSinceMs = 0;
  const startedMs = clock.elapsedMs();
  const expire = (limitMs: number): void => ending.abort(noAnswerWithin(name, limitMs));
  const listen = (): void => {
    timer?.stop();
    timer = undefined;
    if (held > 0) return;
    const leftMs = maxCallTimeoutMs - (clock.elapsedMs() - startedMs - heldMs);
    const limitMs = leftMs < callTimeoutMs ? maxCallTimeoutMs : callTimeoutMs;
    timer = clock.startTimer(Math.max(0, Math.min(leftMs, callTimeoutMs)), () => expire(limitMs));
  };
  const onAbort = (): void => ending.abort(outer.reason);
  if (outer.aborted) onAbort();
  else outer.addEventListener('abort', onAbort, { once: true });
  listen();
  return {
    signal: ending.signal,
    broken: listen,
    hold: () => {
      if (held === 0) heldSinceMs = clock.elapsedMs();
      held += 1;
      listen();
      let isHeld = true;
      return {
        [Symbol.dispose]: () => {
          if (!isHeld) return;
          isHeld = false;
          held -= 1;
          if (held === 0) heldMs += clock.elapsedMs() - heldSinceMs;
          listen();
        },
      };
    },
    [Symbol.dispose]: () => {
      // Whoever still holds it starts nothing again.
      held = Number.POSITIVE_INFINITY;
      timer?.stop();
      outer.removeEventListener('abort', onAbort);
    },
  };
};

/** The same exchange, whose result is waited for as long as the server is not silent for too long. */
export const withinSilence = (
  exchange: Exchange,
  target: Pick<PassTarget, 'name' | 'callTimeoutMs' | 'maxCallTimeoutMs'>,
  clock: Clock,
): Exchange => {
  let silence: Silence | undefined;
  return {
    ...exchange,
    hear: (listener) =>
      exchange.hear((notice) => {
        silence?.broken();
        listener(notice);
      }),
    next: async (signal) => {
      using waiting = startSilence(target, clock, signal);
      silence = waiting;
      return await exchange.next(waiting.signal);
    },
  };
};
