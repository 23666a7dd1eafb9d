import type { Clock, Timer } from '../../kernel/clock.ts';
import { GantryError } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';

/** What waits for a client that has gone to find an answer. */
export interface Waiting {
  readonly client: string | undefined;
  /** Whom it was asked, and in which request. */
  readonly owner: string;
}

/** What waits for clients, known to this process alone. Disposing gives all of it up. */
export interface Parked<T extends Waiting> extends Disposable {
  /**
   * Keeps it until it is taken; gives the name it is taken by.
   * @throws {GantryError} `limit_reached`
   */
  park(waiting: T): string;
  /** Undefined when it was taken, has waited too long, or is another owner's. */
  take(name: string, owner: string): T | undefined;
}

// A person may take long; something is held open meanwhile.
const patienceMs = 15 * 60_000;
const mostParked = 1_000;
const mostOfClient = 50;

/** Makes an empty set; `giveUp` ends what has waited for 15 minutes. */
export const createParked = <T extends Waiting>(clock: Clock, giveUp: (waiting: T) => void): Parked<T> => {
  const parked = new Map<string, { readonly waiting: T; readonly timer: Timer }>();

  const remove = (name: string): T | undefined => {
    const found = parked.get(name);
    parked.delete(name);
    found?.timer.stop();
    return found?.waiting;
  };
  const end = (name: string): void => {
    const found = remove(name);
    if (found) giveUp(found);
  };

  return {
    park: (waiting) => {
      const ofClient = parked.values().filter((one) => one.waiting.client === waiting.client);
      if (parked.size >= mostParked || [...ofClient].length >= mostOfClient)
        throw new GantryError('limit_reached', 'Too many questions of servers wait for an answer; answer those first.');
      const name = newId();
      parked.set(name, { waiting, timer: clock.startTimer(patienceMs, () => end(name)) });
      return name;
    },
    take: (name, owner) => (parked.get(name)?.waiting.owner === owner ? remove(name) : undefined),
    [Symbol.dispose]: () => {
      for (const name of parked.keys()) end(name);
    },
  };
};
