import { startDeadline } from '../../../kernel/abort.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { GantryError, messageOf } from '../../../kernel/errors.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { isObject, parseJson } from '../../../kernel/json.ts';
import type { Log } from '../../../kernel/log.ts';
import type { PassTarget } from '../pass-port.ts';
import { eventTexts, isEventStream } from './event-texts.ts';
import type { ClientSays } from './client-says.ts';
import type { Exchange, Notice, ServerRequest } from './exchange.ts';
import { startHttpExchange } from './http-exchange.ts';

/** A session with a server of 2025 that was opened for one client, and tells the server what that client can be asked for. */
export interface OlderSession extends AsyncDisposable {
  /** What the server can do. */
  readonly capabilities: JsonObject;
  /** Sends a request. Whoever bounds the time of it says so, for a server may ask where the answer of the request is not awaited. */
  request(
    method: string,
    params: JsonObject,
    options?: {
      readonly wantsProgress?: boolean | undefined;
      readonly isTimed?: boolean | undefined;
      /** Whether it is made beside another request, to which what the server asks belongs. Default false. */
      readonly isAside?: boolean | undefined;
      /** Under which token the server tells of its progress, where another request has given it that. */
      readonly progressToken?: string | undefined;
      /** Who may hear what the server says because of it, where others use the session too. */
      readonly owner?: unknown;
    },
  ): Exchange;
  /**
   * Hears what the server says without being asked, until the signal aborts; resolves then, and when the server can say nothing more.
   */
  listen(listener: (notice: Notice) => void, signal: AbortSignal): Promise<void>;
  /**
   * Has `answer` answer what the server asks outside of requests; what it throws is the answer too. Without it that is refused. The signal
   * aborts when the server takes the question back.
   */
  answerAside?(answer: (asked: ServerRequest, signal: AbortSignal) => Promise<JsonObject>): void;
  /** Tells the server what needs no answer. */
  notify?(method: string, params: JsonObject): void;
}

/** How a session reaches its server. */
export interface OlderSessionOptions {
  readonly target: Pick<PassTarget, 'name' | 'send' | 'mask'>;
  readonly says: ClientSays;
  /** Whether what the server says outside of answers is listened to. */
  readonly listens: boolean;
  readonly clock: Clock;
  readonly log: Log;
}

/** The session as the server knows it now. */
interface Opened {
  readonly id: string | null;
  readonly revision: string;
  readonly capabilities: JsonObject;
  readonly standing: AbortController;
}

/** The stream on which a server says what is no answer; a server need not have one. */
interface Standing {
  /** Resolves when it has ended; true when another can be opened. */
  readonly ended: Promise<boolean>;
  isOpen: boolean;
}

const revision = '2025-11-25';

/** What a session begins with. */
export const initializeParams = ({ capabilities, clientInfo }: ClientSays): JsonObject => ({
  protocolVersion: revision,
  capabilities,
  clientInfo,
});

/**
 * Opens a session over HTTP: the server is told what this client can be asked for, and how much of its log it wants. It takes one request
 * at a time, so that whatever the server asks on its standing stream belongs to that one. A session that the server forgets is opened
 * again.
 * @throws {GantryError} `server_unreachable`, `auth_required`, `execution_failed` when the server refuses the handshake.
 */
export const openOlderSession = async (options: OlderSessionOptions, signal: AbortSignal): Promise<OlderSession> => {
  const { target, says, listens, clock, log } = options;
  let count = 0;
  let current: Exchange | undefined;
  let heard: ((notice: Notice) => void) | undefined;
  let standing: Standing | undefined;
  let hasNoStanding = false;
  const onTrouble = (reason: string): void =>
    log.debug({ server: target.name, reason }, 'a message could not be passed on');

  const patience = (limitMs = tellTimeoutMs): ReturnType<typeof startDeadline> =>
    startDeadline(clock, limitMs, {
      onExpiry: () => new GantryError('timeout', `Server "${target.name}" did not take a message in time.`),
    });
  const send = (
    opened: Pick<Opened, 'id' | 'revision'> | undefined,
    method: 'POST' | 'GET' | 'DELETE',
    sending: AbortSignal,
    more: {
      readonly body?: JsonObject;
      readonly lastEventId?: string;
      readonly isTimed?: boolean | undefined;
    } = {},
  ): Promise<Response> =>
    target.send({
      method,
      headers: {
        accept: method === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream',
        ...(more.body && { 'content-type': 'application/json' }),
        ...(opened && { 'mcp-protocol-version': opened.revision }),
        ...(opened?.id != null && { 'mcp-session-id': opened.id }),
        ...(more.lastEventId !== undefined && { 'last-event-id': more.lastEventId }),
      },
      body: more.body && JSON.stringify(more.body),
      isTimed: more.isTimed,
      signal: sending,
    });
  const tell = async (opened: Pick<Opened, 'id' | 'revision'>, message: JsonObject): Promise<void> => {
    using deadline = patience();
    const response = await send(opened, 'POST', deadline.signal, { body: message });
    await response.body?.cancel();
    if (!response.ok) onTrouble(`HTTP status ${response.status}`);
  };
  const start = (
    id: string,
    message: { readonly method: string; readonly params: JsonObject },
    reach: (body: JsonObject, sending: AbortSignal) => Promise<Response>,
    session: () => Pick<Opened, 'id' | 'revision'>,
  ): Exchange =>
    startHttpExchange({
      server: target.name,
      id,
      post: (sending) => reach({ jsonrpc: '2.0', id, ...message }, sending),
      resume: (lastEventId, sending) => send(session(), 'GET', sending, { lastEventId }),
      tell: (said) => tell(session(), said),
      tellsCancelled: message.method !== 'initialize',
      mask: target.mask,
      clock,
      onTrouble,
    });

  const shakeHands = async (shaking: AbortSignal): Promise<Opened> => {
    const opened: { id: string | null; revision: string; capabilities: JsonObject } = {
      id: null,
      revision,
      capabilities: {},
    };
    try {
      const handshake = start(
        nextId(),
        { method: 'initialize', params: initializeParams(says) },
        async (body, sending) => {
          const response = await send(undefined, 'POST', sending, { body });
          opened.id = response.headers.get('mcp-session-id');
          return response;
        },
        () => opened,
      );
      const result = await lastOf(handshake, shaking);
      const { protocolVersion, capabilities } = result;
      if (typeof protocolVersion === 'string') opened.revision = protocolVersion;
      if (isObject(capabilities)) opened.capabilities = capabilities;
      await tell(opened, { jsonrpc: '2.0', method: 'notifications/initialized' });
      if (says.logLevel !== undefined && opened.capabilities['logging'])
        await wishLevel(opened, says.logLevel, shaking);
    } catch (error) {
      await leave(opened);
      throw error;
    }
    return { ...opened, standing: new AbortController() };
  };
  /** What a client wants to hear is a wish; that the server refuses it is no reason not to serve the client. */
  const wishLevel = async (
    opened: Pick<Opened, 'id' | 'revision'>,
    level: string,
    ending: AbortSignal,
  ): Promise<void> => {
    const message = { method: 'logging/setLevel', params: { level } };
    const wish = start(
      nextId(),
      message,
      (body, sending) => send(opened, 'POST', sending, { body }),
      () => opened,
    );
    try {
      await lastOf(wish, ending);
    } catch (error) {
      if (!GantryError.is(error) || !isObject(error.details['rpc'])) throw error;
      onTrouble(error.message);
    }
  };
  /** Tells the server that a session is over, if it has one. */
  const leave = async (opened: Pick<Opened, 'id' | 'revision'>): Promise<void> => {
    if (opened.id === null) return;
    try {
      using deadline = patience(leaveTimeoutMs);
      const response = await send(opened, 'DELETE', deadline.signal);
      await response.body?.cancel();
    } catch (error) {
      onTrouble(messageOf(error));
    }
  };
  const nextId = (): string => `g${(count += 1)}`;

  /** Reads the standing stream, on which some servers say everything that is no answer; true when it can be opened again. */
  const readStanding = async (from: Opened): Promise<boolean> => {
    const { signal: ending } = from.standing;
    try {
      const response = await send(from, 'GET', ending);
      if (!response.ok || !isEventStream(response.headers)) {
        await response.body?.cancel();
        return false;
      }
      for await (const { data } of eventTexts(response.body ?? new ReadableStream())) {
        const parsed = parseJson(data);
        if (!parsed.ok) continue;
        const notice = heard && noticeIn(parsed.value);
        if (notice) heard?.(notice);
        else if (current) current.take(parsed.value);
        else await refuse(from, parsed.value);
      }
    } catch (error) {
      if (ending.aborted) return false;
      onTrouble(messageOf(error));
    }
    return true;
  };
  /** Opens the standing stream, where it is wanted and not open. */
  const stand = (): void => {
    if (!listens || standing?.isOpen || opened.standing.signal.aborted || hasNoStanding) return;
    const ended = readStanding(opened);
    const next: Standing = { ended, isOpen: true };
    standing = next;
    void ended.then((again) => {
      next.isOpen = false;
      if (!again && !opened.standing.signal.aborted) hasNoStanding = true;
    });
  };
  const refuse = async (opened: Pick<Opened, 'id' | 'revision'>, message: unknown): Promise<void> => {
    if (!isObject(message) || typeof message['method'] !== 'string') return;
    const { id } = message;
    if (typeof id !== 'string' && typeof id !== 'number') return;
    const answer =
      message['method'] === 'ping'
        ? { result: {} }
        : { error: { code: -32_600, message: 'No request is open that this could belong to.' } };
    await tell(opened, { jsonrpc: '2.0', id, ...answer });
  };

  let opened = await shakeHands(signal);
  stand();
  const reach = async (body: JsonObject, sending: AbortSignal, isTimed?: boolean): Promise<Response> => {
    const used = opened;
    const response = await send(used, 'POST', sending, { body, isTimed });
    // MCP 2025-11-25, "Session management": the session is gone, and the request was not carried out.
    if (response.status !== 404 || used.id === null) return response;
    await response.body?.cancel();
    used.standing.abort();
    opened = await shakeHands(sending);
    standing = undefined;
    stand();
    return await send(opened, 'POST', sending, { body, isTimed });
  };

  return {
    get capabilities() {
      return opened.capabilities;
    },
    request: (method, params, { wantsProgress, isTimed, isAside = false } = {}) => {
      const id = nextId();
      const meta = isObject(params['_meta']) ? params['_meta'] : {};
      const sent = wantsProgress ? { ...params, _meta: { ...meta, progressToken: id } } : params;
      // One that ended while nobody used the session is missed by the next request.
      stand();
      const message = { method, params: sent };
      const exchange = start(
        id,
        message,
        (body, sending) => reach(body, sending, isTimed),
        () => opened,
      );
      if (!isAside) current = exchange;
      return exchange;
    },
    listen: async (listener, ending) => {
      heard = listener;
      current = undefined;
      stand();
      const stopped = Promise.withResolvers<void>();
      ending.addEventListener('abort', () => stopped.resolve(), { once: true });
      await Promise.race([standing?.ended, stopped.promise]);
      heard = undefined;
    },
    [Symbol.asyncDispose]: async () => {
      current?.abandon();
      opened.standing.abort();
      await leave(opened);
    },
  };
};

// What needs no answer is not waited for longer; a server that hangs must not hold up others.
const tellTimeoutMs = 10_000;
// A gateway that stops takes leave of many.
const leaveTimeoutMs = 1_000;

/** The result of a request in the middle of which nothing can be asked. */
export const lastOf = async (exchange: Exchange, signal: AbortSignal): Promise<JsonObject> => {
  try {
    const step = await exchange.next(signal);
    if ('result' in step) return step.result;
    throw new GantryError('server_unreachable', 'The server asks before its session is open.');
  } finally {
    exchange.abandon();
  }
};

/** What a message says without waiting for an answer; undefined for any other message. */
export const noticeIn = (message: unknown): Notice | undefined => {
  if (!isObject(message) || typeof message['method'] !== 'string' || 'id' in message) return undefined;
  return { method: message['method'], params: isObject(message['params']) ? (message['params'] as JsonObject) : {} };
};
