import { orAborted } from '../../kernel/abort.ts';
import { GantryError } from '../../kernel/errors.ts';

/** Lets so many work at a time; the others wait in order. */
export interface Slots {
  readonly running: number;
  readonly waiting: number;
  /**
   * Waits for a slot; disposing the result gives it back.
   * @throws {GantryError} `limit_reached` when too many wait already; the signal's reason when it aborts.
   */
  take(signal: AbortSignal): Promise<Disposable>;
}

/** Makes `max` slots with room for `maxWaiting` more. */
export const createSlots = (max: number, maxWaiting: number): Slots => {
  const queue = new Set<() => void>();
  let running = 0;

  const giveBack = (): void => {
    const [next] = queue;
    if (next === undefined) running -= 1;
    else {
      // The slot goes to whoever waits longest, so nobody who comes now can take it first.
      queue.delete(next);
      next();
    }
  };
  const toSlot = (): Disposable => {
    let held = true;
    return {
      [Symbol.dispose]: () => {
        if (held) giveBack();
        held = false;
      },
    };
  };

  return {
    get running() {
      return running;
    },
    get waiting() {
      return queue.size;
    },
    take: async (signal) => {
      if (running < max) {
        running += 1;
        return toSlot();
      }
      if (queue.size >= maxWaiting)
        throw new GantryError(
          'limit_reached',
          `${running} pages are being rendered and ${queue.size} wait; try again later.`,
          {
            details: { limit: max, scope: 'rendering' },
            retry: 'later',
          },
        );
      const turn = Promise.withResolvers<void>();
      queue.add(turn.resolve);
      try {
        await orAborted(turn.promise, signal);
      } catch (error) {
        // The turn may have come in the very moment of the abort.
        if (!queue.delete(turn.resolve)) giveBack();
        throw error;
      }
      return toSlot();
    },
  };
};
