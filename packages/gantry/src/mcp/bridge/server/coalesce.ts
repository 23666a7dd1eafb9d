import type { Clock, Timer } from '../../../kernel/clock.ts';

/** Turns a storm of notices into few runs. */
export interface Coalescer extends Disposable {
  /** Asks for a run; the last request is always followed by one. */
  request(): void;
}

/** Runs `work` at most once per `windowMs` and never twice at the same time; while it runs, at most one more is queued. */
export const createCoalescer = (clock: Clock, windowMs: number, work: () => Promise<void>): Coalescer => {
  let timer: Timer | undefined;
  let isRunning = false;
  let isQueued = false;
  let isDisposed = false;

  const arm = (): void => {
    timer ??= clock.startTimer(windowMs, () => {
      timer = undefined;
      isRunning = true;
      void work().finally(() => {
        isRunning = false;
        if (!isQueued || isDisposed) return;
        isQueued = false;
        arm();
      });
    });
  };

  return {
    request: () => {
      if (isDisposed) return;
      if (isRunning) isQueued = true;
      else arm();
    },
    [Symbol.dispose]: () => {
      isDisposed = true;
      timer?.stop();
    },
  };
};
