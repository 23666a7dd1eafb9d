import { orAborted, startDeadline } from '../../../kernel/abort.ts';
import type { Clock, Timer } from '../../../kernel/clock.ts';
import { GantryError, messageOf } from '../../../kernel/errors.ts';
import type { Log } from '../../../kernel/log.ts';
import { newId } from '../../../kernel/ids.ts';
import type { PassTarget } from '../pass-port.ts';
import type { LeasedSession, LeaseSession } from './older-sessions.ts';
import type { ProgramSession } from './program-session.ts';
import { openProgramSession } from './program-session.ts';

/**
 * Programs of 2025 that run for one client each. Such a program has one session for its whole life, so what it asks and tells could belong to
 * any client that shares it.
 */
export interface OwnPrograms extends AsyncDisposable {
  /**
   * The session of the program that runs for this client; it is started for the first request, and ends when nobody used it for 5 minutes.
   * Calls that are to be alone in theirs get the first copy of the program that runs none, so that those which follow one another are made by
   * the same.
   * @throws {GantryError} what starting one throws; `limit_reached` when too many run.
   */
  readonly lease: LeaseSession;
  /** Ends the program that runs for a session of a client. */
  end(target: Pick<PassTarget, 'name'>, session: string): void;
}

/** A program that runs, or starts, for a client. */
interface Running {
  /** By which it is found, until it is spent. */
  readonly key: string;
  readonly server: string;
  readonly client: string | undefined;
  readonly clientSession: string | undefined;
  readonly session: Promise<ProgramSession>;
  users: number;
  /** Whether one of them is a call that is to be alone. */
  hasCall: boolean;
  idle: Timer | undefined;
  /** Not for anybody who comes later: what it still asks would reach them. */
  isSpent: boolean;
}

const idleMs = 5 * 60_000;
const startMs = 60_000;
const mostPrograms = 64;
const mostOfClient = 16;
const mostForCalls = 4;

/** Makes an empty set. */
export const createOwnPrograms = ({ clock, log }: { readonly clock: Clock; readonly log: Log }): OwnPrograms => {
  const programs = new Map<string, Running>();
  /** With those that are spent and still used. */
  const alive = new Set<Running>();
  const ending = new Set<Promise<void>>();
  const stopping = new AbortController();

  const hide = (running: Running): void => {
    if (programs.get(running.key) === running) programs.delete(running.key);
  };
  const forget = (running: Running): Promise<void> => {
    hide(running);
    alive.delete(running);
    running.idle?.stop();
    const ended = endOf(running).finally(() => ending.delete(ended));
    ending.add(ended);
    return ended;
  };
  const endOf = async (running: Running): Promise<void> => {
    let session: ProgramSession;
    try {
      session = await running.session;
    } catch {
      // One that could not be started has ended already, and whoever waited for it was told.
      return;
    }
    try {
      await session[Symbol.asyncDispose]();
    } catch (error) {
      log.warn({ reason: messageOf(error) }, 'a program of a client could not be ended cleanly');
    }
  };

  const start = async (use: Parameters<LeaseSession>[0]): Promise<ProgramSession> => {
    const { target, says } = use;
    if (!target.startProgram) throw new GantryError('usage', `Server "${target.name}" is no program.`);
    // It starts for all that wait for it, so the signal of none of them ends that.
    const limitMs = Math.min(startMs, target.callTimeoutMs);
    using deadline = startDeadline(clock, limitMs, {
      signal: stopping.signal,
      onExpiry: () =>
        new GantryError(
          'server_unreachable',
          `The program of server "${target.name}" did not answer within ${limitMs} ms.`,
        ),
    });
    return await openProgramSession({ target, start: target.startProgram, says, log }, deadline.signal);
  };

  /** One client has so many at most, and ends its own that nobody uses for a new one. */
  const makeRoom = (client: string | undefined): void => {
    const own = [...alive].filter((running) => running.client === client);
    if (alive.size < mostPrograms && own.length < mostOfClient) return;
    const unused = own.find(({ users }) => users === 0);
    if (!unused)
      throw new GantryError(
        'limit_reached',
        `${mostOfClient} programs run for one client at most, and ${mostPrograms} in all; try again when others have ended.`,
      );
    void forget(unused);
  };

  /** The first copy of a client that runs no call which is to be alone. */
  const freeKey = (base: string): string => {
    for (let copy = 0; copy < mostForCalls; copy += 1) {
      const key = copy === 0 ? base : `${base}/${copy}`;
      if (programs.get(key)?.hasCall !== true) return key;
    }
    throw new GantryError(
      'limit_reached',
      `${mostForCalls} calls of this client run at once, each in a copy of the program, which is the most; wait for one to end.`,
    );
  };

  const join = async (base: string, use: Parameters<LeaseSession>[0]): Promise<LeasedSession> => {
    const { isForCall = false } = use;
    const key = isForCall ? freeKey(base) : base;
    let running = programs.get(key);
    if (!running) {
      makeRoom(use.client);
      const { target, client, session: clientSession } = use;
      // Of whom nothing is known, the next may be somebody else.
      const isSpent = client === undefined && clientSession === undefined;
      running = {
        key,
        server: target.name,
        client,
        clientSession,
        session: start(use),
        users: 0,
        hasCall: false,
        idle: undefined,
        isSpent,
      };
      programs.set(key, running);
      alive.add(running);
    }
    const used = running;
    used.idle?.stop();
    used.users += 1;
    if (isForCall) used.hasCall = true;
    let isLeft = false;
    const leave = (how: 'ended' | 'broken'): void => {
      if (isLeft) return;
      isLeft = true;
      used.users -= 1;
      if (isForCall) used.hasCall = false;
      // What it asks about a call that nobody waits for any more is for nobody else.
      if (how === 'broken') used.isSpent = true;
      if (used.isSpent) hide(used);
      if (used.users > 0) return;
      if (used.isSpent) void forget(used);
      else used.idle = clock.startTimer(idleMs, () => void forget(used));
    };
    let session: ProgramSession;
    try {
      session = await used.session;
    } catch (error) {
      await forget(used);
      throw error;
    }
    if (session.isRunning) {
      // The program is the client's, whichever level it wants now.
      if (use.says.logLevel !== undefined) session.wishLogLevel(use.says.logLevel);
      return { session, giveBack: leave };
    }
    await forget(used);
    return await join(base, use);
  };

  return {
    lease: async (use, signal) => {
      const { target, client, session, says } = use;
      const joining = join(
        client === undefined && session === undefined
          ? newId()
          : JSON.stringify([target.name, target.identity, client ?? null, session ?? null, says.capabilities]),
        use,
      );
      try {
        return await orAborted(joining, signal);
      } catch (error) {
        joining.then(
          ({ giveBack }) => giveBack('ended'),
          () => undefined,
        );
        throw error;
      }
    },
    end: (target, session) => {
      for (const running of alive)
        if (running.server === target.name && running.clientSession === session) void forget(running);
    },
    [Symbol.asyncDispose]: async () => {
      stopping.abort(new GantryError('stopped', 'Gantry is stopping.'));
      for (const running of alive) void forget(running);
      await Promise.all(ending);
    },
  };
};
