import type { Clock, Timer } from '../../../kernel/clock.ts';
import { messageOf } from '../../../kernel/errors.ts';
import type { Log } from '../../../kernel/log.ts';
import type { PassTarget } from '../../wire/pass-port.ts';
import type { ClientSays } from './client-says.ts';
import type { OlderSession } from './older-session.ts';
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

/** Gives a session that is told what a client says. */
export type LeaseSession = (
  use: {
    readonly target: PassTarget;
    readonly client: string | undefined;
    readonly says: ClientSays;
    /** Whether notices that belong to no request are wanted. Default false. */
    readonly forNotices?: boolean | undefined;
  },
  signal: AbortSignal,
) => Promise<LeasedSession>;

// Opening one costs two requests, keeping one costs the server memory.
const idleMs = 5 * 60_000;
const mostIdle = 8;

/** Makes an empty set. */
export const createOlderSessions = ({ clock, log }: { readonly clock: Clock; readonly log: Log }): OlderSessions => {
  const idle = new Map<string, { readonly session: OlderSession; readonly timer: Timer }[]>();
  const leased = new Set<OlderSession>();

  const end = async (session: OlderSession): Promise<void> => {
    try {
      await session[Symbol.asyncDispose]();
    } catch (error) {
      log.debug({ reason: messageOf(error) }, 'a session could not be ended');
    }
  };

  const giveBack = (key: string, session: OlderSession, how: 'ended' | 'broken'): void => {
    if (!leased.delete(session)) return;
    const others = idle.get(key) ?? [];
    if (how === 'broken' || others.length >= mostIdle) return void end(session);
    const timer = clock.startTimer(idleMs, () => {
      const left = (idle.get(key) ?? []).filter((one) => one.session !== session);
      if (left.length > 0) idle.set(key, left);
      else idle.delete(key);
      void end(session);
    });
    idle.set(key, [...others, { session, timer }]);
  };

  return {
    lease: async ({ target, client, says, forNotices = false }, signal) => {
      const key = JSON.stringify([target.name, client ?? null, says, forNotices]);
      const waiting = idle.get(key)?.pop();
      waiting?.timer.stop();
      // Some servers ask on the standing stream, not on that of the request.
      const listens = forNotices || Object.keys(says.capabilities).length > 0 || says.logLevel !== undefined;
      const session = waiting?.session ?? (await openOlderSession({ target, says, listens, clock, log }, signal));
      leased.add(session);
      return { session, giveBack: (how) => giveBack(key, session, how) };
    },
    [Symbol.asyncDispose]: async () => {
      const all = [...leased, ...[...idle.values()].flat().map(({ session, timer }) => (timer.stop(), session))];
      leased.clear();
      idle.clear();
      await Promise.all(all.map(end));
    },
  };
};
