import type { Clock } from '../../../kernel/clock.ts';
import type { Exchange, ServerRequest } from '../../wire/sessions/exchange.ts';
import type { LeasedSession } from '../../wire/sessions/older-sessions.ts';
import type { Parked, Waiting } from '../parked.ts';
import { createParked } from '../parked.ts';

/** A request of which a server of 2025 waits for an answer of the client, who has gone to find it. */
export interface ParkedExchange extends Waiting {
  readonly exchange: Exchange;
  readonly leased: LeasedSession;
  /** What was asked, by the key under which the client answers. */
  readonly asked: Readonly<Record<string, ServerRequest>>;
}

/**
 * Requests that wait for their clients. A server of 2025 keeps the stream of such a request open, so it is known to the process that sent
 * it and to no other.
 */
export type ParkedExchanges = Parked<ParkedExchange>;

/** Makes an empty set. */
export const createParkedExchanges = (clock: Clock): ParkedExchanges =>
  createParked(clock, ({ exchange, leased }) => {
    exchange.abandon();
    leased.giveBack('broken');
  });
