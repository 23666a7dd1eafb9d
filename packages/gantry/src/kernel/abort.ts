import type { Clock, Timer } from './clock.ts';
import { GantryError } from './errors.ts';

/** The reason of an aborted signal as a GantryError: the given one when it is one already, else `cancelled`. */
export const abortReason = (signal: AbortSignal): GantryError =>
  GantryError.is(signal.reason)
    ? signal.reason
    : new GantryError('cancelled', 'The call was cancelled by its caller.', { cause: signal.reason });

/** Throws the signal's reason as a GantryError if it has been aborted. */
export const throwIfAborted = (signal: AbortSignal | undefined): void => {
  if (signal?.aborted) throw abortReason(signal);
};

/** Resolves after `delayMs`; rejects with the signal's reason when that comes first. */
export const delay = (clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(abortReason(signal));
      return;
    }
    const onAbort = (): void => {
      timer.stop();
      reject(abortReason(signal as AbortSignal));
    };
    const timer = clock.startTimer(delayMs, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });

/** Settles like `promise`, or rejects with the signal's reason as soon as it aborts. The promise itself goes on unobserved. */
export const orAborted = <T>(promise: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    const onAbort = (): void => reject(abortReason(signal));
    if (signal.aborted) {
      onAbort();
      promise.catch(ignoreLate);
      return;
    }
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });

// What arrives after the caller has been answered has nobody left to be told.
const ignoreLate = (): void => {};

/** A signal that aborts on the caller's signal or at the deadline, whichever is first. Dispose it when the work is over. */
export interface Deadline extends Disposable {
  readonly signal: AbortSignal;
  /** True when it was the deadline that aborted the signal. */
  expired(): boolean;
}

/**
 * Starts a deadline of `timeoutMs` from now, joined with the caller's signal. `onExpiry` makes the error, default `timeout`.
 * Until it is disposed, `keepsAlive` keeps the process from ending: for work that a caller awaits.
 */
export const startDeadline = (
  clock: Clock,
  timeoutMs: number,
  options: {
    signal?: AbortSignal | undefined;
    onExpiry?: (() => GantryError) | undefined;
    keepsAlive?: boolean | undefined;
  } = {},
): Deadline => {
  const controller = new AbortController();
  let expired = false;
  const expire = (): void => {
    expired = true;
    controller.abort(
      options.onExpiry?.() ??
        new GantryError('timeout', `No result within ${timeoutMs} ms.`, { details: { timeoutMs } }),
    );
  };
  const timer = clock.startTimer(timeoutMs, expire, { keepsAlive: options.keepsAlive });
  const onAbort = (): void => controller.abort(options.signal?.reason);
  if (options.signal?.aborted) onAbort();
  else options.signal?.addEventListener('abort', onAbort, { once: true });
  return {
    signal: controller.signal,
    expired: () => expired,
    [Symbol.dispose]: () => {
      timer.stop();
      options.signal?.removeEventListener('abort', onAbort);
    },
  };
};

/** A signal that aborts `graceMs` after the given one: for an answer that still matters when nobody waits for it. Dispose it when that is there. */
export const startGrace = (
  clock: Clock,
  graceMs: number,
  outer: AbortSignal,
): { readonly signal: AbortSignal } & Disposable => {
  const controller = new AbortController();
  let timer: Timer | undefined;
  const onAbort = (): void => {
    timer = clock.startTimer(graceMs, () => controller.abort(outer.reason));
  };
  if (outer.aborted) onAbort();
  else outer.addEventListener('abort', onAbort, { once: true });
  return {
    signal: controller.signal,
    [Symbol.dispose]: () => {
      timer?.stop();
      outer.removeEventListener('abort', onAbort);
    },
  };
};
