import type { Clock } from '../../../kernel/clock.ts';
import type { Exchange, ServerRequest } from '../../wire/sessions/exchange.ts';
import type { LeasedSession } from '../../wire/sessions/older-sessions.ts';
import type { Parked, Waiting } from '../parked.ts';
import { createParked } from '../parked.ts';
import type { Mailbox } from '../mail/mailbox.ts';
import type { PassTarget } from '../../wire/pass-port.ts';

/** A request of which a server of 2025 waits for an answer of the client, who has gone to find it. */
export interface ParkedExchange extends Waiting {
  readonly exchange: Exchange;
  readonly leased: LeasedSession;
  /** The server, as it was for the client when that asked first. */
  readonly target: PassTarget;
  readonly method: string;
  /** What was asked, by the key under which the client answers. */
  readonly asked: Readonly<Record<string, ServerRequest>>;
}

/** Requests that wait for their clients. A server of 2025 keeps the stream of such a request open towards the process that sent it. */
export type ParkedExchanges = Parked<ParkedExchange>;

/** Makes an empty set. */
export const createParkedExchanges = (clock: Clock, mailbox: Mailbox | undefined): ParkedExchanges =>
  createParked({
    clock,
    mailbox,
    giveUp: ({ exchange, leased }) => {
      exchange.abandon();
      leased.giveBack('broken');
    },
  });
