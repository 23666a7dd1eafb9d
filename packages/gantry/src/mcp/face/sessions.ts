import type { Server } from '@modelcontextprotocol/server';
import { isInitializeRequest, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import type { Clock, Timer } from '../../kernel/clock.ts';
import { messageOf } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import type { Log } from '../../kernel/log.ts';
import { jsonRpcError } from './json-rpc-error.ts';
import type { LaneSession, LeanLane } from './lean-lane.ts';
import { createRunningCalls } from './running-calls.ts';
import type { Visitor } from './visitor.ts';

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

/** How sessions are kept. */
export interface SessionsOptions {
  /** Makes the protocol server of a new session. */
  readonly open: (visitor: Visitor) => Server;
  readonly lane: Pick<LeanLane, 'inSession'>;
  readonly clock: Clock;
  readonly log: Log;
  /** When there are so many, the one that was used the longest ago makes room. Default 1,000. */
  readonly maxSessions?: number | undefined;
  /** A session that nobody used or listened to for so long is dropped. Default 1,800,000 ms. */
  readonly idleMs?: number | undefined;
}

interface Session extends LaneSession {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  usedAtMs: number;
  /** The client waits for notices. */
  isListening: boolean;
}

const sweepMs = 60_000;
const sessionHeader = 'mcp-session-id';

/** Makes an empty set of sessions. They live in this process; an unknown id is answered so that the client starts over. */
export const createSessions = (options: SessionsOptions): Sessions => {
  const { open, lane, clock, log, maxSessions = 1_000, idleMs = 30 * 60_000 } = options;
  // Least recently used first.
  const sessions = new Map<string, Session>();
  let sweeping: Timer | undefined;

  const drop = (session: Session): void => {
    if (!sessions.delete(session.id)) return;
    session.server
      .close()
      .catch((error: unknown) => log.warn({ reason: messageOf(error) }, 'an MCP session could not be closed cleanly'));
  };

  const sweep = (): void => {
    const nowMs = clock.nowMs();
    for (const session of sessions.values())
      if (!session.isListening && nowMs - session.usedAtMs >= idleMs) drop(session);
    sweeping = sessions.size > 0 ? clock.startTimer(sweepMs, sweep) : undefined;
  };

  const makeRoom = (): void => {
    if (sessions.size < maxSessions) return;
    const oldest = sessions.values().find(({ isListening }) => !isListening) ?? sessions.values().next().value;
    if (oldest) drop(oldest);
  };

  const start = async (request: Request, body: unknown, caller: Visitor): Promise<Response> => {
    const id = newId();
    const visitor: Visitor = { ...caller, connection: id };
    const server = open(visitor);
    const transport = new WebStandardStreamableHTTPServerTransport({ sessionIdGenerator: () => id });
    const session: Session = {
      id,
      visitor,
      server,
      calls: createRunningCalls(),
      transport,
      usedAtMs: clock.nowMs(),
      isListening: false,
    };
    await server.connect(transport);
    // The client may end the session itself.
    const { onclose } = server;
    server.onclose = () => {
      sessions.delete(id);
      session.calls.cancelAll();
      onclose?.();
    };
    const response = await transport.handleRequest(request, { parsedBody: body });
    if (transport.sessionId === undefined) await server.close();
    else {
      makeRoom();
      sessions.set(id, session);
      sweeping ??= clock.startTimer(sweepMs, sweep);
    }
    return response;
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
    const response = await session.transport.handleRequest(request, { parsedBody: body });
    if (request.method === 'GET' && response.ok) {
      session.isListening = true;
      request.signal.addEventListener('abort', () => {
        session.isListening = false;
        session.usedAtMs = clock.nowMs();
      });
    }
    return response;
  };

  return {
    inLane: (request, body, visitor) => {
      const id = request.headers.get(sessionHeader);
      const session = id === null ? undefined : find(id, visitor);
      if (!session) return undefined;
      use(session);
      return lane.inSession(request, body, session);
    },
    handle: (request, body, visitor) => {
      const id = request.headers.get(sessionHeader);
      if (id === null) return isInitializeRequest(body) ? start(request, body, visitor) : undefined;
      const session = find(id, visitor);
      return session ? resume(session, request, body) : Promise.resolve(unknownSession());
    },
    get size() {
      return sessions.size;
    },
    endStreams: () => {
      for (const { transport } of sessions.values()) transport.closeStandaloneSSEStream();
    },
    [Symbol.asyncDispose]: async () => {
      sweeping?.stop();
      const open = [...sessions.values()];
      sessions.clear();
      await Promise.all(open.map(({ server }) => server.close()));
    },
  };
};

// MCP 2025-11-25, "Session management": 404 makes the client open a new session.
const unknownSession = (): Response => jsonRpcError(404, -32_001, 'Session not found; initialize again.');
