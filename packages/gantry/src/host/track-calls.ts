import { endedByStop } from '../invoke/ended-by-stop.ts';
import type { Invoker } from '../invoke/invoker.ts';
import type { Clock } from '../kernel/clock.ts';
import { GantryError } from '../kernel/errors.ts';

/** An invoker that knows which calls run, so that a stop can wait for them, refuse new ones and end what is left. */
export interface TrackedCalls {
  readonly invoker: Invoker;
  /** Takes no more calls and resolves when none runs, or after `graceMs`; once they have been aborted, after a second at most. */
  settled(graceMs: number): Promise<void>;
  /** Takes no more calls and aborts those that run: their callers are told `stopped`. */
  abort(): void;
}

const answerGraceMs = 1000;

/** Counts the calls of an invoker. */
export const trackCalls = (inner: Invoker, clock: Clock): TrackedCalls => {
  const running = new Set<AbortController>();
  let onIdle: (() => void) | undefined;
  let isStopping = false;
  let isAborted = false;
  return {
    invoker: {
      // A call that is passed on ends with the connection of its client, which the listener looks after.
      observe: inner.observe,
      invoke: async (call, context) => {
        if (isStopping) throw new GantryError('stopped', 'Gantry is stopping and takes no more calls.');
        const controller = new AbortController();
        const { signal } = context;
        const giveUp = (): void => controller.abort(signal?.reason);
        if (signal?.aborted) giveUp();
        else signal?.addEventListener('abort', giveUp, { once: true });
        running.add(controller);
        try {
          return await inner.invoke(call, { ...context, signal: controller.signal });
        } finally {
          signal?.removeEventListener('abort', giveUp);
          running.delete(controller);
          if (running.size === 0) onIdle?.();
        }
      },
    },
    settled: async (graceMs) => {
      isStopping = true;
      if (running.size === 0) return;
      await new Promise<void>((resolve) => {
        const timer = clock.startTimer(isAborted ? Math.min(graceMs, answerGraceMs) : graceMs, resolve);
        onIdle = () => {
          timer.stop();
          resolve();
        };
      });
    },
    abort: () => {
      isStopping = true;
      isAborted = true;
      const reason = endedByStop();
      for (const controller of running) controller.abort(reason);
    },
  };
};
