import { orAborted } from '../../kernel/abort.ts';

/** Lets so many through at a time; the others wait in order. */
export interface ParallelLimit {
  /** Resolves with what gives the place back; rejects when the signal aborts before. */
  enter(signal?: AbortSignal): Promise<() => void>;
}

/** Makes a {@link ParallelLimit} of `most` places. */
export const createParallelLimit = (most: number): ParallelLimit => {
  const waiting: (() => void)[] = [];
  let inside = 0;
  const leave = (): void => {
    const next = waiting.shift();
    if (next) next();
    else inside -= 1;
  };
  return {
    enter: async (signal) => {
      if (inside < most) inside += 1;
      else {
        const turn = Promise.withResolvers<void>();
        waiting.push(turn.resolve);
        try {
          await (signal ? orAborted(turn.promise, signal) : turn.promise);
        } catch (error) {
          const at = waiting.indexOf(turn.resolve);
          // Whose turn came in the same moment passes it on.
          if (at >= 0) waiting.splice(at, 1);
          else leave();
          throw error;
        }
      }
      return leave;
    },
  };
};
