import { throwIfAborted } from '../../kernel/abort.ts';
import { GantryError } from '../../kernel/errors.ts';
import { createParallelLimit } from './parallel-limit.ts';

/** Lets the runs of one runner go on, so many at a time, until the runner stops. */
export interface RunGate {
  /** Aborts when the runner stops. */
  readonly stopping: AbortSignal;
  /**
   * Runs it when there is a place; its signal aborts with the caller's, and when the runner stops.
   * @throws {GantryError} `stopped` once the runner stops; the signal's reason while it waits.
   */
  run<T>(work: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T>;
  /** Takes no more runs and ends those that go on; resolves when they have ended. */
  stop(): Promise<void>;
}

/** Makes a gate with `most` places. */
export const createRunGate = (most: number): RunGate => {
  const parallel = createParallelLimit(most);
  const running = new Set<Promise<unknown>>();
  const stopping = new AbortController();
  return {
    stopping: stopping.signal,
    run: async (work, signal) => {
      throwIfAborted(stopping.signal);
      const both = signal ? AbortSignal.any([signal, stopping.signal]) : stopping.signal;
      const leave = await parallel.enter(both);
      const going = work(both);
      running.add(going);
      try {
        return await going;
      } finally {
        running.delete(going);
        leave();
      }
    },
    stop: async () => {
      stopping.abort(new GantryError('stopped', 'Gantry is stopping; the script was ended.'));
      await Promise.allSettled(running);
    },
  };
};
