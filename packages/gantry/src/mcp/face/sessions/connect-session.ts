import type { RequestId, Server } from '@modelcontextprotocol/server';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import type { Clock } from '../../../kernel/clock.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { LaneSession } from '../lean-lane.ts';
import { createRunningCalls } from '../running-calls.ts';
import type { Visitor } from '../visitor.ts';
import type { AnswerMail } from './answer-mail.ts';
import type { LongCalls } from './long-calls.ts';
import type { OpenRequests } from './open-requests.ts';
import { watchRequests } from './open-requests.ts';
import type { SessionSignals } from './session-signals.ts';
import type { SessionOpening } from './session-token.ts';

/** A session that this process serves. */
export interface Session extends LaneSession {
  /** What it is called inside Gantry. */
  readonly name: string;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  /** Those that its protocol server answers. */
  readonly requests: OpenRequests;
  /** Whether a request with that id runs. */
  readonly isOpen: (id: RequestId) => boolean;
  usedAtMs: number;
  /** The client waits for notices. */
  isListening: boolean;
}

/** What a session is opened with. */
export interface OpenedSession {
  readonly id: string;
  readonly caller: Visitor;
  readonly opening: SessionOpening;
}

/** Makes the protocol server of a session, which waits for its `initialize`, with all that listens to it until it closes. */
export const connectSession = async (
  parts: {
    readonly open: (visitor: Visitor, request: Request, initialize: JsonObject) => Server;
    readonly mail: AnswerMail | undefined;
    readonly signals: SessionSignals | undefined;
    readonly longCalls: LongCalls | undefined;
    readonly clock: Clock;
  },
  request: Request,
  opened: OpenedSession & {
    /** Another process was told that the session is over. */
    drop(session: Session): void;
    onClose(): void;
  },
): Promise<Session> => {
  const { open, mail, signals, longCalls, clock } = parts;
  const { id, caller, drop } = opened;
  const { id: name, params } = opened.opening;
  const visitor: Visitor = { ...caller, connection: name };
  const server = open(visitor, request, params);
  const transport = new WebStandardStreamableHTTPServerTransport({ sessionIdGenerator: () => id });
  await server.connect(transport);
  const stack = new DisposableStack();
  const requests = stack.use(watchRequests(transport, longCalls));
  const calls = createRunningCalls(longCalls);
  const session: Session = {
    id,
    name,
    visitor,
    server,
    calls,
    requests,
    isOpen: (request) => calls.has(request) || requests.has(request),
    transport,
    usedAtMs: clock.nowMs(),
    isListening: false,
  };
  stack.use(mail?.attach(transport, name));
  stack.use(
    signals?.hear(name, {
      cancel: (request) => {
        if (!calls.cancel(request)) requests.cancel(request);
      },
      end: () => drop(session),
    }),
  );
  // The client may end the session itself.
  const { onclose } = server;
  server.onclose = () => {
    opened.onClose();
    calls.cancelAll();
    stack.dispose();
    onclose?.();
  };
  return session;
};

/** Says to it what its client said to another process, of which only the protocol server here has not heard. */
export const repeatHandshake = async (
  { id, transport }: Session,
  request: Request,
  initialize: JsonObject,
): Promise<void> => {
  for (const message of [
    { id: 0, method: 'initialize', params: initialize },
    { method: 'notifications/initialized' },
  ]) {
    const said = await transport.handleRequest(handshakeRequest(request, id), {
      parsedBody: { jsonrpc: '2.0', ...message },
    });
    await said.text();
  }
};

const handshakeRequest = (request: Request, id: string): Request =>
  new Request(request.url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-session-id': id,
    },
  });
