/**
 * Requests that go to clients over their sessions. The answer of a client comes in a request of its own, and with several processes behind
 * one address in another process perhaps: that one leaves it in the store for the process that asked.
 */
import { createHash } from 'node:crypto';
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
  /**
   * Leaves the answer of a client for the process that asked; `elsewhere` when the message answers nothing that another process has asked in
   * this session.
   */
  forward(message: unknown, session: string): Promise<'left' | 'too large' | 'elsewhere'>;
}

// What a person just answered should not lie about for long; a process reads this often while it waits for answers.
const pollMs = 250;
const keptMs = 60_000;
const maxAnswerChars = 1024 * 1024;
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
  const waiting = new Map<string, { readonly session: string; deliver(answer: JSONRPCMessage): void }>();
  let polling: Timer | undefined;

  const collect = async (): Promise<void> => {
    try {
      for (const { key, value } of await letters.list(self)) {
        await letters.delete(key);
        const [, session = ''] = key.split('/');
        const letter = parseJson(sealing.open(value, contextOf(session)));
        if (letter.ok) deliver(letter.value as JSONRPCMessage, session);
      }
    } catch (error) {
      log.warn(
        { reason: messageOf(error) },
        'answers of MCP clients could not be looked for in the store; tried again',
      );
    }
    polling = waiting.size > 0 ? clock.startTimer(pollMs, () => void collect()) : undefined;
  };
  /** An answer to what nobody asks any more, or to what was asked in another session, is dropped. */
  const deliver = (answer: JSONRPCMessage, session: string): void => {
    const asked = 'id' in answer && typeof answer.id === 'string' ? waiting.get(answer.id) : undefined;
    if (asked?.session === session) asked.deliver(answer);
  };
  /** Whose question an id is: sealed, so that clients cannot make up any. */
  const processOf = (id: string, session: string): string | undefined => {
    try {
      return sealing.open(id, contextOf(session)).split('/')[0];
    } catch {
      return undefined;
    }
  };

  return {
    attach: (transport, session) => {
      const ids = new Map<RequestId, string>();
      const send = transport.send.bind(transport);
      const receive = transport.onmessage;
      const forget = (inside: RequestId): void => {
        waiting.delete(ids.get(inside) ?? '');
        ids.delete(inside);
      };
      transport.send = (message, sendOptions) => {
        if (!('method' in message)) return send(message, sendOptions);
        if (!('id' in message)) {
          const { requestId } = (message.params ?? {}) as { requestId?: RequestId };
          const id = requestId === undefined ? undefined : ids.get(requestId);
          if (message.method !== 'notifications/cancelled' || requestId === undefined || id === undefined)
            return send(message, sendOptions);
          forget(requestId);
          return send({ ...message, params: { ...message.params, requestId: id } }, sendOptions);
        }
        const inside = message.id;
        const id = sealing.seal(`${self}/${newId()}`, contextOf(session));
        ids.set(inside, id);
        waiting.set(id, {
          session,
          deliver: (answer) => {
            forget(inside);
            receive?.({ ...answer, id: inside });
          },
        });
        polling ??= clock.startTimer(pollMs, () => void collect());
        return send({ ...message, id }, sendOptions);
      };
      transport.onmessage = (message, extra) => {
        if ('method' in message) receive?.(message, extra);
        else deliver(message, session);
      };
      return {
        [Symbol.dispose]: () => {
          for (const inside of ids.keys()) forget(inside);
        },
      };
    },
    forward: async (message, session) => {
      if (!isObject(message) || 'method' in message || typeof message['id'] !== 'string') return 'elsewhere';
      const { id } = message;
      if (waiting.has(id)) return 'elsewhere';
      const process = processOf(id, session);
      if (process === undefined || process === self) return 'elsewhere';
      const text = JSON.stringify(message);
      if (text.length > maxAnswerChars) return 'too large';
      const key = createHash('sha256').update(id).digest('hex');
      await letters.set(`${process}/${session}/${key}`, sealing.seal(text, contextOf(session)), { ttlMs: keptMs });
      return 'left';
    },
    [Symbol.dispose]: () => {
      polling?.stop();
      waiting.clear();
    },
  };
};
