/**
 * What clients say in their sessions about calls that may run in any process: that one is cancelled, or that the session is over. The process
 * that hears it leaves word for all; those in which calls run for long look for that.
 */
import type { RequestId } from '@modelcontextprotocol/server';
import type { JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';
import type { Mailbox } from '../mail/mailbox.ts';

/** Passes such signals on. */
export interface SessionSignals {
  /** Hears what other processes were told about a session, while calls run here for long. */
  hear(session: string, hears: { cancel(id: RequestId): void; end(): void }): Disposable;
  /** Leaves word that a request was cancelled which does not run here. */
  cancel(session: string, id: RequestId): Promise<void>;
  end(session: string): Promise<void>;
}

const subjectOf = (session: string): string => `session-${session}`;

/** Makes it. */
export const createSessionSignals = (mailbox: Mailbox): SessionSignals => ({
  hear: (session, hears) =>
    mailbox.hear(subjectOf(session), ({ cancelled, isOver }) => {
      if (isOver === true) hears.end();
      else if (isRequestId(cancelled)) hears.cancel(cancelled);
    }),
  cancel: (session, id) => mailbox.sendToAll(subjectOf(session), { cancelled: id }),
  end: (session) => mailbox.sendToAll(subjectOf(session), { isOver: true }),
});

/** The request that a message cancels; undefined for any other message. */
export const cancelledIn = (message: unknown): RequestId | undefined => {
  if (!isObject(message) || message['method'] !== 'notifications/cancelled' || !isObject(message['params']))
    return undefined;
  const { requestId } = message['params'] as JsonObject;
  return isRequestId(requestId) ? requestId : undefined;
};

const isRequestId = (id: unknown): id is RequestId => typeof id === 'string' || typeof id === 'number';
