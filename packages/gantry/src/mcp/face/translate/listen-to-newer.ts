import type { Server } from '@modelcontextprotocol/server';
import type { Clock, Timer } from '../../../kernel/clock.ts';
import { GantryError, messageOf } from '../../../kernel/errors.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';
import type { Log } from '../../../kernel/log.ts';
import type { PassTarget } from '../../wire/pass-port.ts';
import type { Exchange } from './exchange.ts';
import { withoutHopMeta } from './generations.ts';
import type { NewerRequest } from './newer-requests.ts';
import { saysOfOlderClient } from './relay-to-newer.ts';

/** What a client of 2025 is told of over its session. */
export interface SessionNotices extends Disposable {
  /** Begins to listen to what every session is told of. */
  start(): void;
  /** Resolves when the server has taken it up. */
  subscribe(uri: string): Promise<void>;
  unsubscribe(uri: string): void;
}

const again = 5_000;
const listFlags = { tools: 'toolsListChanged', prompts: 'promptsListChanged', resources: 'resourcesListChanged' };

/** Listens to a server of 2026 for one session of a client of 2025: one stream with all that the session is to hear of. */
export const createSessionNotices = (options: {
  readonly server: Server;
  readonly target: () => PassTarget;
  readonly send: (request: NewerRequest) => Exchange;
  readonly clock: Clock;
  readonly log: Log;
}): SessionNotices => {
  const { server, target, send, clock, log } = options;
  const uris = new Set<string>();
  let stream: Exchange | undefined;
  let retry: Timer | undefined;
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

  /** Opens a stream for what is wanted now in place of the one before; resolves when the server has acknowledged it. */
  const listen = async (): Promise<void> => {
    retry?.stop();
    const before = stream;
    const notifications = filter();
    if (isOver || Object.keys(notifications).length === 0) {
      stream = undefined;
      before?.abandon();
      return;
    }
    const acknowledged = Promise.withResolvers<void>();
    const opened = send({
      target: target(),
      says: saysOfOlderClient(server, undefined),
      method: 'subscriptions/listen',
      params: { notifications },
      wantsProgress: false,
    });
    stream = opened;
    opened.hear(({ method, params }) => {
      if (method === 'notifications/subscriptions/acknowledged') return acknowledged.resolve();
      server
        .notification({ method, params: { ...withoutHopMeta(params) } })
        .catch((error: unknown) => log.debug({ reason: messageOf(error) }, 'a client could not be told of a change'));
    });
    const ended = opened.next(new AbortController().signal).then(
      () => new GantryError('server_unreachable', `Server "${target().name}" ended its stream of notices.`),
      (error: unknown) => error,
    );
    void ended.then((error) => {
      acknowledged.reject(error);
      if (isOver || stream !== opened) return;
      log.debug({ server: target().name, reason: messageOf(error) }, 'a stream of notices is opened again');
      retry = clock.startTimer(again, () => void listen().catch(() => undefined));
    });
    try {
      await acknowledged.promise;
    } finally {
      before?.abandon();
    }
  };
  const report = (error: unknown): void =>
    log.debug({ server: target().name, reason: messageOf(error) }, 'notices are not to be had');

  return {
    start: () => void listen().catch(report),
    subscribe: async (uri) => {
      uris.add(uri);
      try {
        await listen();
      } catch (error) {
        uris.delete(uri);
        throw error;
      }
    },
    unsubscribe: (uri) => {
      if (uris.delete(uri)) void listen().catch(report);
    },
    [Symbol.dispose]: () => {
      isOver = true;
      retry?.stop();
      stream?.abandon();
    },
  };
};
