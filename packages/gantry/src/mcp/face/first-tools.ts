import type { Clock } from '../../kernel/clock.ts';

/** The tools of servers that are being connected for the first time. */
export interface FirstTools extends Disposable {
  /** Resolves when they are there or have had their time; undefined after that. */
  readonly pending: Promise<void> | undefined;
}

/**
 * Waits for the tools, from now on and for `patienceMs` at most: a client that lists at once would see no tools of healthy
 * servers, and many list once only, but a server that hangs may not hold them up. Without `firstReady` there is nothing to wait for.
 */
export const awaitFirstTools = (
  clock: Clock,
  firstReady: (() => Promise<void>) | undefined,
  patienceMs: number,
): FirstTools => {
  let pending: Promise<void> | undefined;
  if (!firstReady) return { pending, [Symbol.dispose]: () => {} };
  const over = Promise.withResolvers<void>();
  const end = (): void => {
    timer.stop();
    pending = undefined;
    over.resolve();
  };
  const timer = clock.startTimer(patienceMs, end);
  pending = over.promise;
  // Why a server could not be connected is in its status.
  firstReady().then(end, end);
  return {
    get pending() {
      return pending;
    },
    [Symbol.dispose]: end,
  };
};
