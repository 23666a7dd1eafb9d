import type { Server } from '@modelcontextprotocol/server';
import { isInitializeRequest } from '@modelcontextprotocol/server';
import type { Clock, Timer } from '../../../kernel/clock.ts';
import { messageOf } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import type { Log } from '../../../kernel/log.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { boundedStream } from '../../../net/bounded-stream.ts';
import type { KeyValue } from '../../../store/key-value.ts';
import { jsonRpcError } from '../json-rpc-error.ts';
import { keptHandshake } from '../kept-handshake.ts';
import type { LeanLane } from '../lean-lane.ts';
import type { Mailbox } from '../mail/mailbox.ts';
import type { Sealing } from '../pass/carried-state.ts';
import type { Visitor } from '../visitor.ts';
import { createAnswerMail } from './answer-mail.ts';
import type { OpenedSession, Session } from './connect-session.ts';
import { connectSession, repeatHandshake } from './connect-session.ts';
import { idInUse, idIsInUse } from './id-in-use.ts';
import { createLongCalls } from './long-calls.ts';
import { holdStanding } from './standing.ts';
import { cancelledIn, createSessionSignals } from './session-signals.ts';
import type { SessionOpening } from './session-token.ts';
import { openSession, sealSession } from './session-token.ts';

/** The sessions of clients that speak a 2025 revision over HTTP. */
export interface Sessions extends AsyncDisposable {
  /** Serves a plain request of a session that is open, in the lean lane; undefined leaves it to {@link Sessions.handle}. */
  inLane(request: Request, body: unknown, visitor: Visitor): Promise<Response> | undefined;
  /** Serves a request that opens a session or names one; undefined when it does neither. `body` is its parsed JSON. */
  handle(request: Request, body: unknown, visitor: Visitor): Promise<Response> | undefined;
  /** How many are open. */
  readonly size: number;
  /** Ends the streams on which sessions only wait for notices. */
  endStreams(): void;
}

/** What makes sessions known to every process on one store. */
export interface SharedSessions {
  readonly sealing: Sealing;
  /** Sessions that their clients have ended. */
  readonly ended: KeyValue<true>;
  readonly mailbox: Mailbox;
}

/** How sessions are kept. */
export interface SessionsOptions {
  /**
   * Makes the protocol server of a session, at the request that opens it or is the first to name it here; `initialize` has the parameters
   * that it was opened with.
   */
  readonly open: (visitor: Visitor, request: Request, initialize: JsonObject) => Server;
  /** With it, a session can be served by every process that has the same; without, it is known here only. */
  readonly shared?: SharedSessions | undefined;
  readonly lane: Pick<LeanLane, 'inSession'>;
  readonly clock: Clock;
  readonly log: Log;
  /** When there are so many, the one that was used the longest ago makes room, of the client that has the most. Default 1,000. */
  readonly maxSessions?: number | undefined;
  /** A session that nobody used or listened to for so long is dropped. Default 1,800,000 ms. */
  readonly idleMs?: number | undefined;
}

const sweepMs = 60_000;
// So long an ended session is remembered, and so long one can be taken up by a process that does not know it.
const longestMs = 7 * 24 * 60 * 60_000;
const sessionHeader = 'mcp-session-id';
// As much as of the notices of one request. A client that does not read would have all of it kept here.
const mostUnreadBytes = 8 * 1024 * 1024;

/**
 * Makes an empty set of sessions. Each lives in the process that serves it; where an id carries what its session was opened with, another
 * process takes the session up at the first request that names it. Any other unknown id is answered so that the client starts over.
 */
export const createSessions = (options: SessionsOptions): Sessions => {
  const { open, lane, shared, clock, log, maxSessions = 1_000, idleMs = 30 * 60_000 } = options;
  // Least recently used first.
  const sessions = new Map<string, Session>();
  const takingUp = new Map<string, Promise<Session | undefined>>();
  const mail = shared && createAnswerMail(shared);
  const signals = shared && createSessionSignals(shared.mailbox);
  const longCalls = shared && createLongCalls(clock, () => shared.mailbox.lookForAll());
  let sweeping: Timer | undefined;
  const connect = (request: Request, opened: OpenedSession): Promise<Session> =>
    connectSession({ open, mail, signals, longCalls, clock }, request, {
      ...opened,
      drop,
      onClose: () => sessions.delete(opened.id),
    });

  const drop = (session: Session): void => {
    if (!sessions.delete(session.id)) return;
    session.server
      .close()
      .catch((error: unknown) => log.warn({ reason: messageOf(error) }, 'an MCP session could not be closed cleanly'));
  };

  const sweep = (): void => {
    const nowMs = clock.nowMs();
    if (shared)
      shared.ended
        .sweep()
        .catch((error: unknown) => log.warn({ reason: messageOf(error) }, 'marks of MCP sessions could not be swept'));
    for (const session of sessions.values())
      if (!session.isListening && nowMs - session.usedAtMs >= idleMs) drop(session);
    sweeping = sessions.size > 0 ? clock.startTimer(sweepMs, sweep) : undefined;
  };

  /** Of the client that has the most: one that opens many makes no room with those of others. */
  const makeRoom = (): void => {
    if (sessions.size < maxSessions) return;
    const byClient = Map.groupBy(sessions.values(), ({ visitor }) => visitor.client);
    const most = [...byClient.values()].reduce((a, b) => (b.length > a.length ? b : a));
    const oldest = most.find(({ isListening }) => !isListening) ?? most[0];
    if (oldest) drop(oldest);
  };

  const keep = (session: Session): void => {
    makeRoom();
    sessions.set(session.id, session);
    sweeping ??= clock.startTimer(sweepMs, sweep);
  };

  const start = async (request: Request, body: unknown, caller: Visitor): Promise<Response> => {
    const name = newId();
    const kept = keptHandshake(body);
    if ('problem' in kept) return jsonRpcError(400, -32_602, `Invalid params of initialize: ${kept.problem}`);
    const opening: SessionOpening = { id: name, openedAtMs: clock.nowMs(), params: kept.params };
    const id = (shared && sealSession(shared.sealing, opening, caller.client)) ?? name;
    const session = await connect(request, { id, caller, opening });
    const response = await session.transport.handleRequest(request, { parsedBody: kept.message });
    if (session.transport.sessionId === undefined) await session.server.close();
    else keep(session);
    return response;
  };

  /** Takes up a session that another process has opened, or this one before it forgot; undefined when there is none. */
  const takeUp = async (id: string, request: Request, caller: Visitor): Promise<Session | undefined> => {
    const opening = shared && openSession(shared.sealing, id, caller.client);
    if (!opening || clock.nowMs() - opening.openedAtMs >= longestMs) return undefined;
    if (await shared.ended.get(opening.id)) return undefined;
    const session = await connect(request, { id, caller, opening });
    await repeatHandshake(session, request, opening.params);
    keep(session);
    return session;
  };

  const known = async (id: string, request: Request, visitor: Visitor): Promise<Session | undefined> => {
    const here = find(id, visitor);
    if (here || !shared || sessions.has(id)) return here;
    let taking = takingUp.get(id);
    if (!taking) {
      taking = takeUp(id, request, visitor).finally(() => takingUp.delete(id));
      takingUp.set(id, taking);
    }
    await taking;
    // Others may have waited with it, of whom it knows nothing.
    return find(id, visitor);
  };

  const find = (id: string, visitor: Visitor): Session | undefined => {
    const session = sessions.get(id);
    // A session belongs to the identity that opened it; to any other it does not exist.
    return session?.visitor.client === visitor.client ? session : undefined;
  };

  const use = (session: Session): void => {
    session.usedAtMs = clock.nowMs();
    sessions.delete(session.id);
    sessions.set(session.id, session);
  };

  const resume = async (session: Session, request: Request, body: unknown): Promise<Response> => {
    use(session);
    const forwarded = await mail?.forward(body, session.name);
    if (forwarded === 'left') return new Response(null, { status: 202 });
    if (forwarded === 'too large') return jsonRpcError(413, -32_000, 'The answer is larger than 1,048,576 characters.');
    const cancelled = cancelledIn(body);
    // It may run in another process.
    if (cancelled !== undefined && !session.requests.has(cancelled)) await signals?.cancel(session.name, cancelled);
    const response = await session.transport.handleRequest(request, { parsedBody: body });
    if (request.method === 'GET' && response.ok) {
      session.isListening = true;
      const standing = holdStanding(session.server);
      request.signal.addEventListener('abort', () => {
        standing[Symbol.dispose]();
        session.isListening = false;
        session.usedAtMs = clock.nowMs();
      });
      // The SDK writes whether or not it is read.
      if (response.body) return new Response(boundedStream(response.body, mostUnreadBytes), response);
    }
    if (request.method === 'DELETE' && response.ok) {
      await shared?.ended.set(session.name, true, { ttlMs: longestMs });
      await signals?.end(session.name);
    }
    return response;
  };

  const serve = async (id: string, request: Request, body: unknown, visitor: Visitor): Promise<Response> => {
    const session = await known(id, request, visitor);
    if (!session) return unknownSession();
    const taken = idInUse(body, session.isOpen);
    if (taken !== undefined) return idIsInUse(taken);
    return await (lane.inSession(request, body, session) ?? resume(session, request, body));
  };

  return {
    inLane: (request, body, visitor) => {
      const id = request.headers.get(sessionHeader);
      const session = id === null ? undefined : find(id, visitor);
      if (!session || idInUse(body, session.isOpen) !== undefined) return undefined;
      use(session);
      return lane.inSession(request, body, session);
    },
    handle: (request, body, visitor) => {
      const id = request.headers.get(sessionHeader);
      if (id === null) return isInitializeRequest(body) ? start(request, body, visitor) : undefined;
      return serve(id, request, body, visitor);
    },
    get size() {
      return sessions.size;
    },
    endStreams: () => {
      for (const { transport } of sessions.values()) transport.closeStandaloneSSEStream();
    },
    [Symbol.asyncDispose]: async () => {
      sweeping?.stop();
      longCalls?.[Symbol.dispose]();
      const open = [...sessions.values()];
      sessions.clear();
      await Promise.all(open.map(({ server }) => server.close()));
    },
  };
};

// MCP 2025-11-25, "Session management": 404 makes the client open a new session.
const unknownSession = (): Response => jsonRpcError(404, -32_001, 'Session not found; initialize again.');
