import type { Readable, Writable } from 'node:stream';
import type { McpHttpHandler, McpRequestContext, Server } from '@modelcontextprotocol/server';
import { createMcpHandler, isLegacyRequest, legacyStatelessFallback } from '@modelcontextprotocol/server';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import type { Invoker } from '../../invoke/invoker.ts';
import type { Clock } from '../../kernel/clock.ts';
import { GantryError, messageOf } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import { isObject } from '../../kernel/json.ts';
import type { Log } from '../../kernel/log.ts';
import type { Toolsets } from '../../toolset/toolset.ts';
import type { AdmitCall } from './admit-call.ts';
import { createAskedCalls } from './asked-calls.ts';
import { createChangeNotice } from './change-notice.ts';
import type { FaceMode } from './face-mode.ts';
import { parseFaceMode } from './face-mode.ts';
import type { FaceParts } from './face-server.ts';
import { createFaceServer } from './face-server.ts';
import type { FirstTools } from './first-tools.ts';
import { jsonRpcError } from './json-rpc-error.ts';
import { createLeanLane } from './lean-lane.ts';
import type { Sealing } from './pass/carried-state.ts';
import { readJsonBody } from './request-body.ts';
import type { StdioConnection } from './serve-stdio.ts';
import { serveStdio } from './serve-stdio.ts';
import type { SharedSessions } from './sessions/sessions.ts';
import { createSessions } from './sessions/sessions.ts';
import { createToolPages } from './tool-pages.ts';
import type { Visitor } from './visitor.ts';
import { contextOf } from './visitor.ts';
import { withSignal } from './with-signal.ts';

/** What the tools are served with. */
export interface ToolsFaceOptions {
  /** How Gantry names itself to clients. */
  readonly name: string;
  readonly version: string;
  /** Told to clients when they connect. */
  readonly instructions?: string | undefined;
  readonly toolsets: Toolsets;
  readonly invoker: Invoker;
  readonly firstTools: FirstTools;
  /** The mode of a client whose address names none; default `auto`. */
  readonly modeFor?: ((client: string | undefined) => FaceMode) | undefined;
  readonly clock: Clock;
  readonly log: Log;
  /** Sessions of 2025 clients at most; default 1,000. */
  readonly maxSessions?: number | undefined;
  /** An unused session of a 2025 client is dropped after so long; default 1,800,000 ms. */
  readonly sessionIdleMs?: number | undefined;
  readonly shared?: SharedSessions | undefined;
  /** Seals what a client carries from one of its requests to the next; without it no client of 2026 is asked in the middle of a call. */
  readonly sealing?: Sealing | undefined;
  /** Whether a client reads and writes the shared folder too; default none does. */
  readonly sharesFolder?: ((client: string | undefined) => boolean) | undefined;
  /** Whether a client gets long results whole; default they are split. */
  readonly wantsWholeResults?: ((client: string | undefined) => boolean) | undefined;
  /** Lets a call of a client begin, or says why it may not now. Default every call begins. */
  readonly admit?: AdmitCall | undefined;
  readonly maxBodyBytes: number;
}

/** Gantry's own tools as an MCP server. Disposing closes every connection. */
export interface ToolsFace extends AsyncDisposable {
  handleHttp(request: Request, options?: { readonly client?: string | undefined }): Promise<Response>;
  serveStdio(options?: StdioOptions): StdioConnection;
  endStreams(): void;
}

/** The streams of a client that is served over standard input and output; default those of the process. */
export interface StdioOptions {
  readonly input?: Readable | undefined;
  readonly output?: Writable | undefined;
  readonly mode?: FaceMode | undefined;
}

const changeDelayMs = 100;

/**
 * Makes it. A client is told of changed tools 100 ms after the first of a burst of changes, and only when its own list is another now.
 */
export const createToolsFace = (options: ToolsFaceOptions): ToolsFace => {
  const { toolsets, clock, log, firstTools, shared, sealing, maxBodyBytes, modeFor = () => 'auto' } = options;
  const parts: FaceParts = {
    ...options,
    pages: createToolPages(toolsets),
    schemaValidator: new AjvJsonSchemaValidator(),
    askedCalls: sealing && createAskedCalls({ clock, log, sealing, mailbox: shared?.mailbox }),
  };
  const toVisitor = (client: string | undefined, mode: FaceMode): Visitor => ({
    client,
    mode,
    sharesFolder: options.sharesFolder?.(client),
    wholeResults: options.wantsWholeResults?.(client),
  });
  const stampOf = (visitor: Visitor): string => toolsets.stamp(contextOf(visitor));
  // Servers whose client has finished the handshake and takes notices on its connection.
  const connected = new Map<Server, Listener>();
  const visitors = new WeakMap<Request, Visitor>();
  const streams = new AbortController();

  const open = (visitor: Visitor, era: McpRequestContext['era']): Server => {
    const server = createFaceServer(parts, visitor, era);
    const connect = (): void => void connected.set(server, { visitor, told: stampOf(visitor) });
    if (era === 'modern') connect();
    else server.oninitialized = connect;
    server.onclose = () => void connected.delete(server);
    return server;
  };

  /** Where the protocol has no connections, each request gets a server of its own. */
  const openForRequest = ({ requestInfo, era }: McpRequestContext): Server =>
    createFaceServer(parts, (requestInfo && visitors.get(requestInfo)) ?? { mode: 'auto' }, era);

  const report = (error: Error): void => log.debug({ reason: messageOf(error) }, 'an MCP request was not served');
  // Its listeners cannot be told one by one, so clients that see different lists have handlers of their own.
  const handlers = new Map<string, Listener & { readonly handler: McpHttpHandler }>();
  const modernFor = (visitor: Visitor): McpHttpHandler => {
    const key = `${visitor.mode}\n${visitor.client ?? ''}`;
    let known = handlers.get(key);
    if (!known) {
      const handler = createMcpHandler(openForRequest, { legacy: 'reject', onerror: report });
      known = { handler, visitor, told: stampOf(visitor) };
      handlers.set(key, known);
    }
    return known.handler;
  };
  const withoutSession = legacyStatelessFallback(openForRequest, report);
  const lane = createLeanLane(parts, clock);
  const sessions = createSessions({
    lane,
    open: (visitor) => open(visitor, 'legacy'),
    shared,
    clock,
    log,
    maxSessions: options.maxSessions,
    idleMs: options.sessionIdleMs,
  });

  /** True when the list is another than the one that was last told of. */
  const isNews = (listener: Listener): boolean => {
    const stamp = stampOf(listener.visitor);
    const isOther = stamp !== listener.told;
    listener.told = stamp;
    return isOther;
  };
  const notice = createChangeNotice(clock, changeDelayMs, () => {
    for (const listener of handlers.values()) if (isNews(listener)) listener.handler.notify.toolsChanged();
    for (const [server, listener] of connected) {
      if (!isNews(listener)) continue;
      server
        .sendToolListChanged()
        .catch((error: unknown) =>
          log.debug({ reason: messageOf(error) }, 'an MCP client could not be told of changes'),
        );
    }
  });
  const stopWatching = toolsets.onChange(notice.changed);

  const serve = async (request: Request, body: unknown, visitor: Visitor): Promise<Response> => {
    if (firstTools.pending && isList(body)) await firstTools.pending;
    const plain = lane.modern(request, body, visitor) ?? sessions.inLane(request, body, visitor);
    if (plain) return plain;
    const isLegacy = await isLegacyRequest(request, body);
    const target =
      !isLegacy && isListen(body) ? withSignal(request, AbortSignal.any([request.signal, streams.signal])) : request;
    visitors.set(target, visitor);
    const parsed = { parsedBody: body };
    if (!isLegacy) return modernFor(visitor).fetch(target, parsed);
    return sessions.handle(target, body, visitor) ?? withoutSession(target, parsed);
  };

  return {
    handleHttp: async (request, { client } = {}) => {
      let visitor: Visitor;
      try {
        const { url } = request;
        const named = url.includes('?') ? new URL(url).searchParams.get('mode') : null;
        visitor = toVisitor(client, parseFaceMode(named, modeFor(client)));
      } catch (error) {
        if (!GantryError.is(error)) throw error;
        return jsonRpcError(400, -32_602, error.message);
      }
      const body = await readJsonBody(request, maxBodyBytes);
      return body.ok ? serve(request, body.json, visitor) : body.refusal;
    },
    serveStdio: ({ input, output, mode = modeFor(undefined) } = {}) => {
      const connection = newId();
      return serveStdio((era) => open({ ...toVisitor(undefined, mode), connection }, era), { input, output, log });
    },
    endStreams: () => {
      streams.abort();
      sessions.endStreams();
    },
    [Symbol.asyncDispose]: async () => {
      stopWatching();
      notice[Symbol.dispose]();
      lane[Symbol.dispose]();
      const closing = [...handlers.values()].map(({ handler }) => handler.close());
      await Promise.all([...closing, parts.askedCalls?.[Symbol.asyncDispose](), sessions[Symbol.asyncDispose]()]);
      await Promise.all([...connected.keys()].map((server) => server.close()));
    },
  };
};

/** A client that is told when its list changes. */
interface Listener {
  readonly visitor: Visitor;
  /** The stamp of the list that it was last told of. */
  told: string;
}

const isList = (body: unknown): boolean => isObject(body) && body['method'] === 'tools/list';

const isListen = (body: unknown): boolean => isObject(body) && body['method'] === 'subscriptions/listen';
