import { orAborted, startDeadline } from '../../../kernel/abort.ts';
import type { Clock, Timer } from '../../../kernel/clock.ts';
import { GantryError, messageOf } from '../../../kernel/errors.ts';
import type { Log } from '../../../kernel/log.ts';
import type { PassTarget } from '../pass-port.ts';
import type { ClientSays } from './client-says.ts';
import type { OlderSession, OlderSessionOptions } from './older-session.ts';
import { openOlderSession } from './older-session.ts';

/** A session that somebody uses. */
export interface LeasedSession {
  readonly session: OlderSession;
  /** Lets others use it, or ends it where what it was used for did not end well. */
  giveBack(how: 'ended' | 'broken'): void;
}

/** Sessions with servers of 2025 over HTTP, each for one client and one request at a time. */
export interface OlderSessions extends AsyncDisposable {
  /**
   * A session that is this use's alone: one that is idle, or a new one.
   * @throws {GantryError} what opening one throws.
   */
  readonly lease: LeaseSession;
}

/** For whom a session is, and for what. */
export interface SessionUse {
  readonly client: string | undefined;
  readonly says: ClientSays;
  /** The session of the client, where it has one: what runs for it runs for no other. */
  readonly session?: string | undefined;
  /** Whether notices that belong to no request are wanted. Default false. */
  readonly forNotices?: boolean | undefined;
  /**
   * Whether it is for one request in the middle of which the client is asked. A program runs one such at a time: it does not say in which of
   * its requests it asks. Default false.
   */
  readonly isForCall?: boolean | undefined;
}

/** How sessions reach a server. */
export type SessionTarget = Pick<PassTarget, 'name' | 'identity' | 'send' | 'mask' | 'startProgram' | 'callTimeoutMs'>;

/** Gives a session that is told what a client says. */
export type LeaseSession = (
  use: SessionUse & { readonly target: SessionTarget },
  signal: AbortSignal,
) => Promise<LeasedSession>;

// Opening one costs two requests, keeping one costs the server memory.
const idleMs = 5 * 60_000;
const mostIdle = 8;
const openMs = 60_000;
// Calls that run or wait for answers, and streams of notices.
const mostOfClient = 200;

/** Makes an empty set. */
export const createOlderSessions = ({ clock, log }: { readonly clock: Clock; readonly log: Log }): OlderSessions => {
  const idle = new Map<string, { readonly session: OlderSession; readonly timer: Timer }[]>();
  const leased = new Set<OlderSession>();
  const usedBy = new Map<string | undefined, number>();
  const ending = new Set<Promise<void>>();
  const stopping = new AbortController();

  const end = async (session: OlderSession): Promise<void> => {
    try {
      await session[Symbol.asyncDispose]();
    } catch (error) {
      log.debug({ reason: messageOf(error) }, 'a session could not be ended');
    }
  };
  const endLater = (session: OlderSession): void => {
    const ended = end(session).finally(() => ending.delete(ended));
    ending.add(ended);
  };

  const open = async (options: OlderSessionOptions): Promise<OlderSession> => {
    using deadline = startDeadline(clock, openMs, {
      signal: stopping.signal,
      onExpiry: () =>
        new GantryError('server_unreachable', `Server "${options.target.name}" did not open a session in time.`),
    });
    return await openOlderSession(options, deadline.signal);
  };

  /** Counts a use of a client; gives the way to count it off. */
  const claim = (client: string | undefined): (() => void) => {
    const used = usedBy.get(client) ?? 0;
    if (used >= mostOfClient)
      throw new GantryError(
        'limit_reached',
        `${mostOfClient} requests of this client use a session of their own, which is the most allowed; let some of them end.`,
      );
    usedBy.set(client, used + 1);
    return () => {
      const left = (usedBy.get(client) ?? 1) - 1;
      if (left > 0) usedBy.set(client, left);
      else usedBy.delete(client);
    };
  };

  const rest = (key: string, session: OlderSession): void => {
    const others = idle.get(key) ?? [];
    if (others.length >= mostIdle || stopping.signal.aborted) return endLater(session);
    const timer = clock.startTimer(idleMs, () => {
      const left = (idle.get(key) ?? []).filter((one) => one.session !== session);
      if (left.length > 0) idle.set(key, left);
      else idle.delete(key);
      endLater(session);
    });
    idle.set(key, [...others, { session, timer }]);
  };

  return {
    lease: async ({ target, client, session: of, says, forNotices = false }, signal) => {
      const key = JSON.stringify([
        target.name,
        target.identity,
        client ?? null,
        of ?? null,
        says.capabilities,
        says.logLevel ?? null,
        forNotices,
      ]);
      const leave = claim(client);
      // Of whom nothing is known, the next may be somebody else, whom a late question would reach.
      const isOnce = client === undefined && of === undefined;
      const waiting = idle.get(key)?.pop();
      waiting?.timer.stop();
      // Some servers ask on the standing stream, not on that of the request.
      const listens = forNotices || Object.keys(says.capabilities).length > 0 || says.logLevel !== undefined;
      // A handshake is not broken off with the client who wanted it: the server would keep a session that nobody knows. It is for the next.
      const opening = waiting ? Promise.resolve(waiting.session) : open({ target, says, listens, clock, log });
      let session: OlderSession;
      try {
        session = await orAborted(opening, signal);
      } catch (error) {
        leave();
        opening.then((opened) => (isOnce ? endLater(opened) : rest(key, opened)), ignore);
        throw error;
      }
      leased.add(session);
      return {
        session,
        giveBack: (how) => {
          if (!leased.delete(session)) return;
          leave();
          if (how === 'broken' || isOnce) endLater(session);
          else rest(key, session);
        },
      };
    },
    [Symbol.asyncDispose]: async () => {
      stopping.abort(new GantryError('stopped', 'Gantry is stopping.'));
      for (const { session, timer } of [...idle.values()].flat()) {
        timer.stop();
        endLater(session);
      }
      for (const session of leased) endLater(session);
      leased.clear();
      idle.clear();
      await Promise.all(ending);
    },
  };
};

// Whoever waited for it was told.
const ignore = (): void => {};
