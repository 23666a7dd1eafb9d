import type { JSONRPCMessage, RequestId, Transport } from '@modelcontextprotocol/client';
import { GantryError, messageOf } from '../../../kernel/errors.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';
import type { Log } from '../../../kernel/log.ts';

/** Answers one kind of request of a server with the result as it is sent; `signal` aborts when the server takes the request back. */
export type AnswerRequest = (params: unknown, signal: AbortSignal) => Promise<JsonObject>;

/** Takes requests that a server sends over its session past the SDK, which refuses what it does not know to the letter. */
export interface RequestAnswers {
  /** True when the message was a request that is answered here, or takes one back. */
  take(message: JSONRPCMessage): boolean;
  /** Nobody waits for answers any more. */
  end(): void;
}

/** Makes the answers of one connection. */
export const createRequestAnswers = (
  transport: Pick<Transport, 'send'>,
  options: { readonly log: Log; readonly answers: Readonly<Record<string, AnswerRequest | undefined>> },
): RequestAnswers => {
  const { log, answers } = options;
  const running = new Map<RequestId, AbortController>();

  const answer = async (id: RequestId, run: AnswerRequest, params: unknown): Promise<void> => {
    const ending = new AbortController();
    running.set(id, ending);
    try {
      const result = await run(params, ending.signal);
      // What the server took back is not answered (MCP, "Cancellation").
      if (!ending.signal.aborted) await transport.send({ jsonrpc: '2.0', id, result: { ...result } });
    } catch (error) {
      if (!GantryError.is(error) || ending.signal.aborted)
        return log.warn({ reason: messageOf(error) }, 'a request of a server could not be answered');
      await transport.send({ jsonrpc: '2.0', id, error: { code: refusedCode, message: error.message } });
    } finally {
      running.delete(id);
    }
  };

  return {
    take: (message) => {
      if (!('method' in message)) return false;
      if (!('id' in message)) {
        const id = message.method === 'notifications/cancelled' ? idIn(message.params) : undefined;
        const ending = id === undefined ? undefined : running.get(id);
        ending?.abort();
        return ending !== undefined;
      }
      const run = Object.hasOwn(answers, message.method) ? answers[message.method] : undefined;
      if (!run) return false;
      void answer(message.id, run, message.params);
      return true;
    },
    end: () => {
      for (const ending of running.values()) ending.abort();
    },
  };
};

// What a client says that will not do what it is asked (MCP, "Sampling").
const refusedCode = -1;

const idIn = (params: unknown): RequestId | undefined => {
  const id = isObject(params) ? params['requestId'] : undefined;
  return typeof id === 'string' || typeof id === 'number' ? id : undefined;
};
