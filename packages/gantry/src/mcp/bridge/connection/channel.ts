/**
 * The one channel of a connection to a program, or to a server over SSE: requests of clients go past the SDK's client, which tells its owner
 * alone what it hears. All that the server says is sorted here: answers by their ids, notices of changes by the subscription that they name
 * (2026), progress by its token. Messages of the log name nothing, and may be about a request that was given up, or about a task: they are told
 * only where nobody but one owner has used the connection since it was opened.
 */
import type { JSONRPCMessage, RequestId, Transport } from '@modelcontextprotocol/client';
import { GantryError, messageOf } from '../../../kernel/errors.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';
import type { Log } from '../../../kernel/log.ts';
import type { ChannelRequest } from '../../wire/pass-port.ts';
import type { Notice } from '../../wire/sessions/exchange.ts';
import { subscriptionIdKey } from '../../wire/subscription-id.ts';
import { brokenOff, fromLostAnswer } from './lost-answer.ts';

/** What comes and goes on it. */
export interface Channel {
  /**
   * Sends a request and gives `take` all messages that belong to it; resolves when the last of them, the answer, is taken. Aborting tells the
   * server that it is given up.
   * @throws {GantryError} `server_unreachable`, `response_too_large`, `limit_reached` for a client that listens too often.
   */
  send(request: ChannelRequest, take: (message: unknown) => void, signal: AbortSignal): Promise<void>;
  /** Hears of all changes that a server of 2025 tells of, until the signal aborts; resolves then, and when there is nothing more to hear. */
  listen(listener: (notice: Notice) => void, signal: AbortSignal): Promise<void>;
  /** True when a message was one of a request. */
  take(message: JSONRPCMessage): boolean;
  /** A request was sent past this that is not one of the bridge's own. */
  usedByOthers(): void;
  /** Ends what only listens: the connection is to end when nothing runs on it. */
  endListening(): void;
  /** The connection has ended. */
  end(): void;
}

interface Open {
  readonly request: ChannelRequest;
  readonly isListening: boolean;
  take(message: unknown): void;
  settle(error?: unknown): void;
}

const listening = 'subscriptions/listen';
const changes: ReadonlySet<string> = new Set([
  'notifications/tools/list_changed',
  'notifications/prompts/list_changed',
  'notifications/resources/list_changed',
  'notifications/resources/updated',
]);
// An SDK server takes 1,024 of one connection, and the bridge's own is one of them.
const mostListening = 1_000;
const mostOfClient = 200;

/** Why no more may listen to a server, where so many do already, of them so many of one client. */
export const listeningProblem = (server: string, all: number, own: number): GantryError | undefined =>
  own < mostOfClient && all < mostListening
    ? undefined
    : new GantryError(
        'limit_reached',
        `${mostOfClient} listen to server "${server}" for one client at most, and ${mostListening} in all; end some that are not needed.`,
      );

/** Makes it, over `inner`. */
export const createChannel = (
  inner: Pick<Transport, 'send'>,
  { server, log }: { readonly server: string; readonly log: Log },
): Channel => {
  const open = new Map<RequestId, Open>();
  const listeners = new Map<(notice: Notice) => void, () => void>();
  /** Whoever would listen from now on would keep a connection that is to end. */
  let isEnding = false;

  /** By whom it has been used; more than two need not be told apart. */
  const users = new Set<unknown>();
  const others = {};
  const use = (owner: unknown): void => {
    if (users.size < 2) users.add(owner);
  };

  const admit = ({ method, client }: ChannelRequest): void => {
    if (method !== listening) return;
    if (isEnding) throw toBeConnected(server);
    const all = [...open.values()].filter(({ isListening }) => isListening);
    const own = all.filter(({ request }) => request.client === client);
    const problem = listeningProblem(server, all.length, own.length);
    if (problem) throw problem;
  };

  const cancel = (requestId: RequestId): void => {
    inner
      .send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } })
      .catch((error: unknown) => log.debug({ server, reason: messageOf(error) }, 'a request could not be cancelled'));
  };

  /** The request that a notice belongs to. */
  const heardBy = (message: Members): Open | undefined => {
    const { method, params } = message;
    if (!isObject(params)) return undefined;
    const meta = isObject(params['_meta']) ? params['_meta'] : {};
    if (subscriptionIdKey in meta) return open.get(meta[subscriptionIdKey] as RequestId);
    if (method === 'notifications/progress') return open.get(params['progressToken'] as RequestId);
    return method === 'notifications/message' && users.size === 1 ? latestThatWantsLog() : undefined;
  };

  const latestThatWantsLog = (): Open | undefined =>
    [...open.values()].findLast(({ request, isListening }) => request.wantsLog === true && !isListening);

  /** What goes wrong with one message is not to reach the connection, which is everybody's. */
  const give = (one: Open, message: Members): void => {
    try {
      one.take(message);
    } catch (error) {
      log.warn({ server, reason: messageOf(error) }, 'a message of a server could not be passed on');
    }
  };

  const takeAnswer = (one: Open, message: Members): void => {
    const { error } = message;
    const lost = isObject(error) ? fromLostAnswer(error as unknown as Parameters<typeof fromLostAnswer>[0]) : undefined;
    if (lost) return one.settle(lost);
    give(one, message);
    one.settle();
  };

  const endGracefully = (one: Open): void =>
    takeAnswer(one, { jsonrpc: '2.0', id: one.request.id, result: { resultType: 'complete' } });

  /** Tells of a change that names no subscription. */
  const tell = ({ method, params }: Members): void => {
    const said = isObject(params) ? (params as JsonObject) : {};
    if (isObject(said['_meta']) && subscriptionIdKey in said['_meta']) return;
    for (const listener of listeners.keys())
      try {
        listener({ method: String(method), params: said });
      } catch (error) {
        log.warn({ server, reason: messageOf(error) }, 'a notice of a server could not be passed on');
      }
  };
  const endListeners = (): void => {
    isEnding = true;
    for (const end of listeners.values()) end();
  };

  return {
    send: async (request, take, signal) => {
      signal.throwIfAborted();
      admit(request);
      const { id, method, params, owner } = request;
      if (owner !== undefined) use(owner);
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
      // It may be given up while it is still being written, which takes as long as the server does not read.
      inner.send({ jsonrpc: '2.0', id, method, params }).catch((error: unknown) => one.settle(error));
      await ended.promise;
    },
    listen: async (listener, signal) => {
      if (isEnding) return;
      const ended = Promise.withResolvers<void>();
      listeners.set(listener, ended.resolve);
      if (signal.aborted) ended.resolve();
      else signal.addEventListener('abort', () => ended.resolve(), { once: true });
      await ended.promise;
      listeners.delete(listener);
    },
    usedByOthers: () => use(others),
    take: (message) => {
      if (changes.has('method' in message ? message.method : '')) tell(message);
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
      const one = heardBy(message);
      if (one) give(one, message);
      return one !== undefined;
    },
    endListening: () => {
      for (const one of open.values()) if (one.isListening) endGracefully(one);
      endListeners();
    },
    end: () => {
      const why = new GantryError('server_unreachable', brokenOff(server, 'it has ended'), {
        details: { name: server },
        retry: 'never',
      });
      for (const one of open.values()) one.settle(why);
      endListeners();
    },
  };
};

const toBeConnected = (server: string): GantryError =>
  new GantryError('server_unreachable', `Server "${server}" is being connected anew; listen again.`, {
    details: { name: server },
    retry: 'same',
  });

type Members = Readonly<Record<string, unknown>>;
