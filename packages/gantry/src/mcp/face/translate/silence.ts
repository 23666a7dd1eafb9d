import type { Clock, Timer } from '../../../kernel/clock.ts';
import { GantryError } from '../../../kernel/errors.ts';
import type { PassTarget } from '../../wire/pass-port.ts';

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
  { name, callTimeoutMs }: Pick<PassTarget, 'name' | 'callTimeoutMs'>,
  clock: Clock,
  outer: AbortSignal,
): Silence => {
  const ending = new AbortController();
  let timer: Timer | undefined;
  let held = 0;
  const expire = (): void =>
    ending.abort(
      new GantryError(
        'timeout',
        `Server "${name}" gave no answer within ${callTimeoutMs} ms; whether the request was carried out is unknown.`,
        { details: { name, timeoutMs: callTimeoutMs }, retry: 'never' },
      ),
    );
  const listen = (): void => {
    timer?.stop();
    timer = held > 0 ? undefined : clock.startTimer(callTimeoutMs, expire);
  };
  const onAbort = (): void => ending.abort(outer.reason);
  if (outer.aborted) onAbort();
  else outer.addEventListener('abort', onAbort, { once: true });
  listen();
  return {
    signal: ending.signal,
    broken: listen,
    hold: () => {
      held += 1;
      listen();
      let isHeld = true;
      return {
        [Symbol.dispose]: () => {
          if (!isHeld) return;
          isHeld = false;
          held -= 1;
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
