import type { Clock, Timer } from '../../../kernel/clock.ts';
import { GantryError } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import type { Exchange, ServerRequest } from './exchange.ts';
import type { LeasedSession } from './older-sessions.ts';

/** A request of which a server of 2025 waits for an answer of the client, who has gone to find it. */
export interface ParkedExchange {
  readonly exchange: Exchange;
  readonly leased: LeasedSession;
  /** What was asked, by the key under which the client answers. */
  readonly asked: Readonly<Record<string, ServerRequest>>;
  readonly client: string | undefined;
  /** Whom it was asked, and in which request. */
  readonly owner: string;
}

/**
 * Requests that wait for their clients. A server of 2025 keeps the stream of such a request open, so it is known to the process that sent
 * it and to no other.
 */
export interface ParkedExchanges extends Disposable {
  /**
   * Keeps it until it is taken; gives the name it is taken by.
   * @throws {GantryError} `limit_reached`
   */
  park(parked: ParkedExchange): string;
  /** Undefined when it was taken, has waited too long, or is another owner's. */
  take(name: string, owner: string): ParkedExchange | undefined;
}

// A person may take long; a server of 2025 holds a connection meanwhile.
const patienceMs = 15 * 60_000;
const mostParked = 1_000;
const mostOfClient = 50;

/** Makes an empty set. */
export const createParkedExchanges = (clock: Clock): ParkedExchanges => {
  const parked = new Map<string, ParkedExchange & { readonly timer: Timer }>();

  const remove = (name: string): ParkedExchange | undefined => {
    const found = parked.get(name);
    parked.delete(name);
    found?.timer.stop();
    return found;
  };
  const giveUp = (name: string): void => {
    const found = remove(name);
    found?.exchange.abandon();
    found?.leased.giveBack('broken');
  };

  return {
    park: (entry) => {
      const ofClient = parked.values().filter(({ client }) => client === entry.client);
      if (parked.size >= mostParked || [...ofClient].length >= mostOfClient)
        throw new GantryError('limit_reached', 'Too many questions of servers wait for an answer; answer those first.');
      const name = newId();
      const timer = clock.startTimer(patienceMs, () => giveUp(name));
      parked.set(name, { ...entry, timer });
      return name;
    },
    take: (name, owner) => (parked.get(name)?.owner === owner ? remove(name) : undefined),
    [Symbol.dispose]: () => {
      for (const name of parked.keys()) giveUp(name);
    },
  };
};
