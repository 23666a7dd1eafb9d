/**
 * Requests that go to clients over their sessions. The answer of a client comes in a request of its own, and with several processes behind
 * one address in another process perhaps: that one leaves it for the process that asked.
 */
import type { JSONRPCMessage, RequestId, Transport } from '@modelcontextprotocol/server';
import { newId } from '../../../kernel/ids.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';
import type { Mailbox } from '../mail/mailbox.ts';
import type { Sealing } from '../pass/carried-state.ts';

/** Gives requests to clients ids that no other process gives, and brings answers to where they were asked for. */
export interface AnswerMail {
  /** Makes the transport of a session use it; `session` is its id inside Gantry. Disposing forgets what it waits for. */
  attach(transport: Transport, session: string): Disposable;
  /**
   * Leaves the answer of a client for the process that asked; `elsewhere` when the message answers nothing that another process has asked in
   * this session.
   */
  forward(message: unknown, session: string): Promise<'left' | 'too large' | 'elsewhere'>;
}

const maxAnswerChars = 1024 * 1024;
const contextOf = (session: string): string => `answer/${session}`;
const subjectOf = (session: string): string => `answer-${session}`;

/** Makes the mail of one process. */
export const createAnswerMail = ({
  sealing,
  mailbox,
}: {
  readonly sealing: Sealing;
  readonly mailbox: Mailbox;
}): AnswerMail => {
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
      /** By the id that the client was given, the id that the protocol server knows. */
      const asked = new Map<RequestId, RequestId>();
      let hearing: DisposableStack | undefined;
      const send = transport.send.bind(transport);
      const receive = transport.onmessage;
      const outsideOf = (inside: RequestId): RequestId | undefined =>
        [...asked].find(([, known]) => known === inside)?.[0];
      const forget = (id: RequestId): void => {
        asked.delete(id);
        if (asked.size > 0) return;
        hearing?.[Symbol.dispose]();
        hearing = undefined;
      };
      /** An answer to what nobody asks any more is dropped. */
      const deliver = (answer: JSONRPCMessage): void => {
        const id = 'id' in answer ? answer.id : undefined;
        const inside = id === undefined ? undefined : asked.get(id);
        if (id === undefined || inside === undefined) return;
        forget(id);
        receive?.({ ...answer, id: inside });
      };
      const listen = (): DisposableStack => {
        const stack = new DisposableStack();
        stack.use(mailbox.hear(subjectOf(session), (letter) => deliver(letter as unknown as JSONRPCMessage)));
        stack.use(mailbox.look());
        return stack;
      };
      transport.send = (message, sendOptions) => {
        if (!('method' in message)) return send(message, sendOptions);
        if (!('id' in message)) {
          const { requestId } = (message.params ?? {}) as { requestId?: RequestId };
          const id =
            message.method === 'notifications/cancelled' && requestId !== undefined ? outsideOf(requestId) : undefined;
          if (id === undefined) return send(message, sendOptions);
          forget(id);
          return send({ ...message, params: { ...message.params, requestId: id } }, sendOptions);
        }
        const id = sealing.seal(`${mailbox.address}/${newId()}`, contextOf(session));
        asked.set(id, message.id);
        hearing ??= listen();
        return send({ ...message, id }, sendOptions);
      };
      transport.onmessage = (message, extra) => {
        if ('method' in message) receive?.(message, extra);
        else deliver(message);
      };
      return {
        [Symbol.dispose]: () => {
          asked.clear();
          hearing?.[Symbol.dispose]();
        },
      };
    },
    forward: async (message, session) => {
      if (!isObject(message) || 'method' in message || typeof message['id'] !== 'string') return 'elsewhere';
      const process = processOf(message['id'], session);
      if (process === undefined || process === mailbox.address) return 'elsewhere';
      if (JSON.stringify(message).length > maxAnswerChars) return 'too large';
      await mailbox.send(process, subjectOf(session), message as JsonObject);
      return 'left';
    },
  };
};
