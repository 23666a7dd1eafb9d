/**
 * Requests that go to clients over their sessions. The answer of a client comes in a request of its own, and with several processes behind
 * one address in another process perhaps: that one leaves it in the store for the process that asked.
 */
import type { JSONRPCMessage, RequestId, Transport } from '@modelcontextprotocol/server';
import type { Clock, Timer } from '../../../kernel/clock.ts';
import { messageOf } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import { isObject, parseJson } from '../../../kernel/json.ts';
import type { Log } from '../../../kernel/log.ts';
import type { KeyValue } from '../../../store/key-value.ts';
import type { Sealing } from '../pass/carried-state.ts';

/** Gives requests to clients ids that no other process gives, and brings answers to where they were asked for. */
export interface AnswerMail extends Disposable {
  /** Makes the transport of a session use it; `session` is its id inside Gantry. Disposing forgets what it waits for. */
  attach(transport: Transport, session: string): Disposable;
  /** Leaves the answer of a client for the process that asked; false when the message is no such answer. */
  forward(message: unknown, session: string): Promise<boolean>;
}

// What a person just answered should not lie about for long; a process reads this often while it waits for answers.
const pollMs = 250;
const keptMs = 60_000;
const mostLetters = 100;
const contextOf = (session: string): string => `answer/${session}`;

/** Makes the mail of one process. */
export const createAnswerMail = (options: {
  readonly sealing: Sealing;
  readonly letters: KeyValue<string>;
  readonly clock: Clock;
  readonly log: Log;
}): AnswerMail => {
  const { sealing, letters, clock, log } = options;
  const self = newId();
  /** By the id that the client was given. */
  const waiting = new Map<string, (answer: JSONRPCMessage) => void>();
  let polling: Timer | undefined;

  const collect = async (): Promise<void> => {
    try {
      for (const { key, value } of await letters.list(self)) {
        await letters.delete(key);
        const [, session = '', number = ''] = key.split('/');
        const answer = parseJson(sealing.open(value, contextOf(session)));
        if (answer.ok) waiting.get(outsideId(session, number))?.(answer.value as JSONRPCMessage);
      }
    } catch (error) {
      log.warn(
        { reason: messageOf(error) },
        'answers of MCP clients could not be looked for in the store; tried again',
      );
    }
    polling = waiting.size > 0 ? clock.startTimer(pollMs, () => void collect()) : undefined;
  };
  const outsideId = (session: string, number: RequestId): string => `${self}/${session}/${number}`;

  return {
    attach: (transport, session) => {
      const send = transport.send.bind(transport);
      const deliver = transport.onmessage;
      transport.send = (message, sendOptions) => {
        if (!('method' in message)) return send(message, sendOptions);
        if (!('id' in message)) {
          const { requestId } = (message.params ?? {}) as { requestId?: RequestId };
          if (message.method !== 'notifications/cancelled' || requestId === undefined)
            return send(message, sendOptions);
          const id = outsideId(session, requestId);
          waiting.delete(id);
          return send({ ...message, params: { ...message.params, requestId: id } }, sendOptions);
        }
        const inside = message.id;
        const id = outsideId(session, inside);
        waiting.set(id, (answer) => {
          waiting.delete(id);
          deliver?.({ ...answer, id: inside });
        });
        polling ??= clock.startTimer(pollMs, () => void collect());
        return send({ ...message, id }, sendOptions);
      };
      transport.onmessage = (message, extra) => {
        if ('method' in message) return deliver?.(message, extra);
        // An answer to what nobody asks any more.
        waiting.get(String(message.id))?.(message);
      };
      return {
        [Symbol.dispose]: () => {
          for (const id of waiting.keys()) if (id.startsWith(outsideId(session, ''))) waiting.delete(id);
        },
      };
    },
    forward: async (message, session) => {
      if (!isObject(message) || 'method' in message || typeof message['id'] !== 'string') return false;
      const [process = '', asked, number = ''] = message['id'].split('/');
      if (process === self || asked !== session || !/^\w+$/.test(process) || !/^\w+$/.test(number)) return false;
      const sealed = sealing.seal(JSON.stringify(message), contextOf(session));
      const under = `${process}/${session}`;
      await letters.set(`${under}/${number}`, sealed, { ttlMs: keptMs, cap: { under, maxEntries: mostLetters } });
      return true;
    },
    [Symbol.dispose]: () => {
      polling?.stop();
      waiting.clear();
    },
  };
};
