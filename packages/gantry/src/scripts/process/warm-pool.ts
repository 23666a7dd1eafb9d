import type { RunPlace } from './run-place.ts';

/** Places whose process waits for its script. */
export interface WarmPool extends AsyncDisposable {
  /** The place that has waited longest, when there is one; it is the caller's from now on. */
  take(): Promise<RunPlace> | undefined;
  /** Opens places until the pool is full again. */
  refill(): void;
}

/** Makes an empty pool of `size` places. */
export const createWarmPool = (size: number, open: () => Promise<RunPlace>): WarmPool => {
  const waiting: Promise<RunPlace>[] = [];
  let isClosed = false;
  return {
    take: () => waiting.shift(),
    refill: () => {
      if (isClosed) return;
      while (waiting.length < size) {
        const place = open();
        // A place that could not be made is reported by the run that takes it.
        place.catch(() => {});
        waiting.push(place);
      }
    },
    [Symbol.asyncDispose]: async () => {
      isClosed = true;
      for (const opening of waiting.splice(0)) {
        const place = await opening.catch(() => undefined);
        await place?.[Symbol.asyncDispose]();
      }
    },
  };
};
