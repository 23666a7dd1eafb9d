import type { Server } from '@modelcontextprotocol/server';
import { orAborted } from '../../../kernel/abort.ts';
import type { Clock, Timer } from '../../../kernel/clock.ts';
import { GantryError, messageOf } from '../../../kernel/errors.ts';
import type { Log } from '../../../kernel/log.ts';
import type { SharedSession } from '../../wire/pass-port.ts';
import type { Notice } from '../../wire/sessions/exchange.ts';
import type { SessionNotices } from './listen-to-newer.ts';
import { againAtMostMs, againMs, isGone, mostSubscriptions, tooManySubscriptions } from './listen-to-newer.ts';
import type { Visit } from './relayed.ts';
import { ownerOf } from './relayed.ts';
import { wishSharedLog } from './shared-log.ts';
import type { Subscriber } from './shared-subscriptions.ts';
import { subscribeShared, unsubscribeShared } from './shared-subscriptions.ts';
import { isAnswer } from './tasks/task-way.ts';

/**
 * Listens for one session of a client of 2025 to a program of 2025 that it shares with others: to all changes of lists, and to those of the
 * resources that it has subscribed to. When the program is started anew, so is this.
 */
export const createSharedNotices = (options: {
  readonly server: Server;
  readonly visit: () => Visit;
  readonly clock: Clock;
  readonly log: Log;
}): SessionNotices => {
  const { server, visit, clock, log } = options;
  const uris = new Set<string>();
  const ending = new AbortController();
  let current: SharedSession | undefined;
  let opening: Promise<SharedSession> | undefined;
  let retry: Timer | undefined;
  let waitMs = againMs;
  let logLevel: string | undefined;
  const report = (reason: string): void =>
    log.debug({ server: visit().target.name, reason }, 'notices are not to be had');

  const subscriber = (): Subscriber => ({ holder: server, owner: ownerOf(visit(), server) });

  const hear = ({ method, params }: Notice): void => {
    const { uri } = params;
    if (method === 'notifications/resources/updated' && (typeof uri !== 'string' || !uris.has(uri))) return;
    server.notification({ method, params: { ...params } }).catch((error: unknown) => report(messageOf(error)));
  };

  /** What it is subscribed to, but for what the program does not have any more. */
  const subscribeAnew = async (session: SharedSession): Promise<void> => {
    for (const uri of uris)
      try {
        await subscribeShared(session, subscriber(), [uri], ending.signal);
      } catch (error) {
        if (!isAnswer(error)) throw error;
        uris.delete(uri);
        report(error.message);
      }
  };
  const open = async (): Promise<SharedSession> => {
    retry?.stop();
    const { session, giveBack } = await visit().target.leaseShared(visit().client, ending.signal);
    try {
      await subscribeAnew(session);
    } catch (error) {
      giveBack();
      throw error;
    }
    waitMs = againMs;
    current = session;
    if (logLevel !== undefined) wishSharedLog(session, server, logLevel, report);
    void session.listen(hear, ending.signal).then(() => {
      current = undefined;
      if (ending.signal.aborted) {
        unsubscribeShared(session, subscriber(), uris, report);
        wishSharedLog(session, server, undefined, report);
      }
      giveBack();
      openLater();
    });
    return session;
  };
  const openLater = (): void => {
    if (ending.signal.aborted) return;
    retry = clock.startTimer(waitMs, () => void ready().catch((error: unknown) => report(messageOf(error))));
    waitMs = Math.min(waitMs * 2, againAtMostMs);
  };
  /** The session as it is now; one opening for all that wait for it. */
  const ready = async (): Promise<SharedSession> => {
    if (current) return current;
    opening ??= open()
      .catch((error: unknown) => {
        if (!isGone(error)) openLater();
        throw error;
      })
      .finally(() => (opening = undefined));
    return await opening;
  };

  return {
    start: () => void ready().catch((error: unknown) => report(messageOf(error))),
    subscribe: async (uri, signal) => {
      if (uris.has(uri)) return;
      if (uris.size >= mostSubscriptions) throw tooManySubscriptions();
      // Known before the server can tell of it, and to whoever opens the next session.
      uris.add(uri);
      try {
        await subscribeShared(await orAborted(ready(), signal), subscriber(), [uri], signal);
      } catch (error) {
        uris.delete(uri);
        throw error;
      }
    },
    unsubscribe: (uri) => {
      if (uris.delete(uri) && current) unsubscribeShared(current, subscriber(), [uri], report);
    },
    setLogLevel: async (level, signal) => {
      logLevel = level;
      wishSharedLog(await orAborted(ready(), signal), server, level, report);
    },
    [Symbol.dispose]: () => {
      retry?.stop();
      ending.abort(new GantryError('cancelled', 'The session has ended.'));
    },
  };
};
