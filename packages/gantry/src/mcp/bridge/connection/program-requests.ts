/**
 * Requests of clients to a program of 2026, past the SDK's client, which tells its owner alone what it hears. All that a program says comes on
 * one channel, and is sorted here: answers by their ids, notices of changes by the subscription that they name, progress by its token.
 * Messages of the log name nothing; they belong to a request only while the program works on no other.
 */
import type { JSONRPCMessage, RequestId, Transport } from '@modelcontextprotocol/client';
import { GantryError, messageOf } from '../../../kernel/errors.ts';
import { isObject } from '../../../kernel/json.ts';
import type { Log } from '../../../kernel/log.ts';
import type { ProgramRequest } from '../../wire/pass-port.ts';
import { subscriptionIdKey } from '../../wire/subscription-id.ts';
import { brokenOff, fromLostAnswer } from './lost-answer.ts';

/** The requests on one connection. */
export interface ProgramRequests {
  /**
   * Sends a request and gives `take` all messages that belong to it; resolves when the last of them, the answer, is taken. Aborting tells the
   * program that it is given up.
   * @throws {GantryError} `server_unreachable`, `response_too_large`, `limit_reached` for a client that listens too often.
   */
  send(request: ProgramRequest, take: (message: unknown) => void, signal: AbortSignal): Promise<void>;
  /** True when a message was one of these. `isShared` says that the program works for others too. */
  take(message: JSONRPCMessage, isShared: boolean): boolean;
  /** Ends what only listens: the connection is to end when nothing runs on it. */
  endListening(): void;
  /** The connection has ended. */
  end(): void;
}

interface Open {
  readonly request: ProgramRequest;
  readonly isListening: boolean;
  take(message: unknown): void;
  settle(error?: unknown): void;
}

const listening = 'subscriptions/listen';
// An SDK server takes 1,024 of one connection, and the bridge's own is one of them.
const mostListening = 1_000;
const mostOfClient = 200;

/** Makes the requests of a connection over `inner`. */
export const createProgramRequests = (
  inner: Pick<Transport, 'send'>,
  { server, log }: { readonly server: string; readonly log: Log },
): ProgramRequests => {
  const open = new Map<RequestId, Open>();

  const admit = ({ method, client }: ProgramRequest): void => {
    if (method !== listening) return;
    const all = [...open.values()].filter(({ isListening }) => isListening);
    const own = all.filter(({ request }) => request.client === client);
    if (own.length < mostOfClient && all.length < mostListening) return;
    throw new GantryError(
      'limit_reached',
      `${mostOfClient} listen to server "${server}" for one client at most, and ${mostListening} in all; end some that are not needed.`,
    );
  };

  const cancel = (requestId: RequestId): void => {
    inner
      .send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } })
      .catch((error: unknown) => log.debug({ server, reason: messageOf(error) }, 'a request could not be cancelled'));
  };

  /** The request that a notice belongs to. */
  const heardBy = (message: Members, isShared: boolean): Open | undefined => {
    const { method, params } = message;
    if (!isObject(params)) return undefined;
    const meta = isObject(params['_meta']) ? params['_meta'] : {};
    if (subscriptionIdKey in meta) return open.get(meta[subscriptionIdKey] as RequestId);
    if (method === 'notifications/progress') return open.get(params['progressToken'] as RequestId);
    return method === 'notifications/message' && !isShared ? onlyWorker() : undefined;
  };

  /** The latest of the requests that run where all are of one owner, and want the log. */
  const onlyWorker = (): Open | undefined => {
    const working = [...open.values()].filter(({ isListening }) => !isListening);
    const latest = working.at(-1);
    const owner = latest?.request.logsFor;
    return owner !== undefined && working.every(({ request }) => request.logsFor === owner) ? latest : undefined;
  };

  const takeAnswer = (one: Open, message: Members): void => {
    const { error } = message;
    const lost = isObject(error) ? fromLostAnswer(error as unknown as Parameters<typeof fromLostAnswer>[0]) : undefined;
    if (lost) return one.settle(lost);
    one.take(message);
    one.settle();
  };

  const endGracefully = (one: Open): void =>
    takeAnswer(one, { jsonrpc: '2.0', id: one.request.id, result: { resultType: 'complete' } });

  return {
    send: async (request, take, signal) => {
      signal.throwIfAborted();
      admit(request);
      const { id, method, params } = request;
      const ended = Promise.withResolvers<void>();
      const giveUp = (): void => {
        one.settle(signal.reason);
        cancel(id);
      };
      const one: Open = {
        request,
        isListening: method === listening,
        take,
        settle: (error) => {
          open.delete(id);
          signal.removeEventListener('abort', giveUp);
          if (error === undefined) ended.resolve();
          else ended.reject(error);
        },
      };
      open.set(id, one);
      signal.addEventListener('abort', giveUp, { once: true });
      try {
        await inner.send({ jsonrpc: '2.0', id, method, params });
      } catch (error) {
        one.settle(error);
      }
      await ended.promise;
    },
    take: (message, isShared) => {
      if (open.size === 0) return false;
      if (!('method' in message)) {
        const answered = message.id === undefined ? undefined : open.get(message.id);
        if (answered) takeAnswer(answered, message);
        return answered !== undefined;
      }
      if ('id' in message) return false;
      // MCP 2026-07-28, "Subscriptions": a program ends one by cancelling the request that opened it.
      const ended =
        message.method === 'notifications/cancelled' ? open.get(message.params?.['requestId'] as RequestId) : undefined;
      if (ended?.isListening) {
        endGracefully(ended);
        return true;
      }
      const one = heardBy(message, isShared);
      one?.take(message);
      return one !== undefined;
    },
    endListening: () => {
      for (const one of open.values()) if (one.isListening) endGracefully(one);
    },
    end: () => {
      const why = new GantryError('server_unreachable', brokenOff(server, 'the program has ended'), {
        details: { name: server },
        retry: 'never',
      });
      for (const one of open.values()) one.settle(why);
    },
  };
};

type Members = Readonly<Record<string, unknown>>;
