import type { Server } from '@modelcontextprotocol/server';
import { orAborted } from '../../../kernel/abort.ts';
import type { Clock, Timer } from '../../../kernel/clock.ts';
import { GantryError, messageOf } from '../../../kernel/errors.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';
import type { Log } from '../../../kernel/log.ts';
import type { PassTarget } from '../../wire/pass-port.ts';
import type { Exchange } from '../../wire/sessions/exchange.ts';
import { withoutHopMeta } from './generations.ts';
import type { NewerRequest } from './newer-requests.ts';
import { saysOfOlderClient } from './relay-to-newer.ts';
import type { Visit } from './relayed.ts';
import { ownerOf } from './relayed.ts';

/** What a client of 2025 is told of over its session. */
export interface SessionNotices extends Disposable {
  /** Begins to listen to what every session is told of. */
  start(): void;
  /** Resolves when the server has taken it up. */
  subscribe(uri: string, signal: AbortSignal): Promise<void>;
  unsubscribe(uri: string): void;
  /** Resolves when the server sends its log from this level on; undefined where requests say what they want. */
  readonly setLogLevel?: ((level: string, signal: AbortSignal) => Promise<void>) | undefined;
}

/** After what time a stream that has ended is opened again, and after what time at most where that fails again and again. */
export const againMs = 5_000;
export const againAtMostMs = 60_000;
const acknowledgeMs = 30_000;
export const mostSubscriptions = 200;
// All that is asked for; a session could take anything else for a question.
const isTold = (method: string): boolean =>
  /^notifications\/(?:(?:tools|prompts|resources)\/list_changed|resources\/updated)$/.test(method);
const listFlags = { tools: 'toolsListChanged', prompts: 'promptsListChanged', resources: 'resourcesListChanged' };

/** Whether there is no such server any more, which the next request of the session is told. */
export const isGone = (error: unknown): boolean => GantryError.is(error) && error.code === 'server_unknown';

/** Refuses one more. */
export const tooManySubscriptions = (): GantryError =>
  new GantryError(
    'limit_reached',
    `A session subscribes to ${mostSubscriptions} resources at most; unsubscribe from some.`,
  );

/** Listens to a server of 2026 for one session of a client of 2025: one stream with all that the session is to hear of. */
export const createSessionNotices = (options: {
  readonly server: Server;
  /** Whose session it is, and with which server. */
  readonly visit: () => Visit;
  readonly send: (request: NewerRequest) => Exchange;
  readonly clock: Clock;
  readonly log: Log;
}): SessionNotices => {
  const { server, visit, send, clock, log } = options;
  const target = (): PassTarget => visit().target;
  const uris = new Set<string>();
  const waiting: PromiseWithResolvers<void>[] = [];
  /** The stream that the server has acknowledged, and the one that is to take its place. */
  let active: Exchange | undefined;
  let pending: Exchange | undefined;
  let retry: Timer | undefined;
  let waitMs = againMs;
  let isOver = false;

  const filter = (): JsonObject => {
    const { capabilities } = target().link;
    const lists = Object.entries(listFlags).filter(([name]) => {
      const capability = capabilities[name];
      return isObject(capability) && capability['listChanged'] === true;
    });
    return {
      ...Object.fromEntries(lists.map(([, flag]) => [flag, true])),
      ...(uris.size > 0 && { resourceSubscriptions: [...uris] }),
    };
  };

  /** Opens a stream for what is wanted now; resolves when the server has acknowledged it, or one that took its place. */
  const listen = async (): Promise<void> => {
    retry?.stop();
    const notifications = filter();
    pending?.abandon();
    pending = undefined;
    if (isOver || Object.keys(notifications).length === 0) {
      active?.abandon();
      active = undefined;
      for (const one of waiting.splice(0)) one.resolve();
      return;
    }
    const acknowledged = Promise.withResolvers<void>();
    waiting.push(acknowledged);
    const exchange = send({
      target: target(),
      client: visit().client,
      says: saysOfOlderClient(server, undefined),
      method: 'subscriptions/listen',
      params: { notifications },
      wantsProgress: false,
      owner: ownerOf(visit(), server),
    });
    pending = exchange;
    const patience = clock.startTimer(acknowledgeMs, () => exchange.abandon());
    exchange.hear(({ method, params }) => {
      if (method === 'notifications/subscriptions/acknowledged') {
        if (pending !== exchange) return;
        patience.stop();
        waitMs = againMs;
        // Until now it was left open, so that nothing is missed in between.
        active?.abandon();
        active = exchange;
        pending = undefined;
        for (const one of waiting.splice(0)) one.resolve();
      } else if (isTold(method))
        server
          .notification({ method, params: { ...withoutHopMeta(params) } })
          .catch((error: unknown) => log.debug({ reason: messageOf(error) }, 'a client could not be told of a change'));
    });
    const ended = exchange.next(new AbortController().signal).then(
      () => new GantryError('server_unreachable', `Server "${target().name}" ended its stream of notices.`),
      (error: unknown) => error,
    );
    void ended.then((error) => {
      patience.stop();
      if (exchange === pending) {
        pending = undefined;
        for (const one of waiting.splice(0)) one.reject(error);
      } else if (exchange === active) active = undefined;
      else return;
      if (isOver || active || pending || isGone(error)) return;
      log.debug({ server: target().name, reason: messageOf(error) }, 'a stream of notices is opened again');
      retry = clock.startTimer(waitMs, () => void listen().catch(report));
      waitMs = Math.min(waitMs * 2, againAtMostMs);
    });
    await acknowledged.promise;
  };
  const report = (error: unknown): void =>
    log.debug({ server: target().name, reason: messageOf(error) }, 'notices are not to be had');

  return {
    start: () => void listen().catch(report),
    subscribe: async (uri, signal) => {
      if (uris.size >= mostSubscriptions) throw tooManySubscriptions();
      uris.add(uri);
      try {
        await orAborted(listen(), signal);
      } catch (error) {
        uris.delete(uri);
        // Where the client has given it up, the stream may have it.
        if (signal.aborted) void listen().catch(report);
        throw error;
      }
    },
    unsubscribe: (uri) => {
      if (uris.delete(uri)) void listen().catch(report);
    },
    [Symbol.dispose]: () => {
      isOver = true;
      retry?.stop();
      pending?.abandon();
      active?.abandon();
    },
  };
};
