import type { Clock, Timer } from '../../kernel/clock.ts';
import { GantryError } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import { crowdedOut } from './crowd.ts';
import type { Looking, Mailbox } from './mail/mailbox.ts';

/** What waits for a client that has gone to find an answer. */
export interface Waiting {
  readonly client: string | undefined;
  /** Whom it was asked, and in which request. */
  readonly owner: string;
}

/** What waits for clients in this process. Disposing gives all of it up. */
export interface Parked<T extends Waiting> extends Disposable {
  /**
   * Keeps it until it is taken; gives the name it is taken by, under which other processes find this one. Where there is no room, what has
   * waited the longest is given up for it.
   */
  park(waiting: T): Promise<string>;
  /** Undefined when it was taken, was given up, is another owner's, or waits elsewhere. */
  take(name: string, owner: string): T | undefined;
}

// A person may take long; something is held open meanwhile.
const patienceMs = 15 * 60_000;
const limits = { inAll: 1_000, ofClient: 50 };

/** Makes an empty set; `giveUp` ends what has waited for 15 minutes, or has no room any more. Without a mailbox no other process finds it. */
export const createParked = <T extends Waiting>(options: {
  readonly clock: Clock;
  readonly mailbox: Mailbox | undefined;
  readonly giveUp: (waiting: T, reason: GantryError) => void;
}): Parked<T> => {
  const { clock, mailbox, giveUp } = options;
  // Those that have waited the longest come first.
  const parked = new Map<
    string,
    { readonly waiting: T; readonly timer: Timer; readonly looking: Looking | undefined }
  >();

  const remove = (name: string): T | undefined => {
    const found = parked.get(name);
    parked.delete(name);
    found?.timer.stop();
    found?.looking?.[Symbol.dispose]();
    return found?.waiting;
  };
  const end = (name: string, reason: string): void => {
    const found = remove(name);
    if (found) giveUp(found, new GantryError('cancelled', reason));
  };
  /**
   * A client that went away while it was asked would keep its places for long, and be refused when it comes back. Whoever has the most makes
   * room for others.
   */
  const makeRoom = (client: string | undefined): void => {
    const oldest = crowdedOut(parked, ({ waiting }) => waiting.client, client, limits);
    if (oldest !== undefined) end(oldest, 'Too many questions waited for this client, and this one for the longest.');
  };

  return {
    park: async (waiting) => {
      makeRoom(waiting.client);
      const name = mailbox ? `${mailbox.address}/${newId()}` : newId();
      const looking = mailbox?.look();
      const timer = clock.startTimer(patienceMs, () => end(name, 'The client did not answer in time.'));
      parked.set(name, { waiting, timer, looking });
      await looking?.isSeen;
      return name;
    },
    take: (name, owner) => (parked.get(name)?.waiting.owner === owner ? remove(name) : undefined),
    [Symbol.dispose]: () => {
      for (const name of parked.keys()) end(name, 'Gantry is stopping.');
    },
  };
};
