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
import type { KeyValue } from '../../store/key-value.ts';
import type { Toolsets } from '../../toolset/toolset.ts';
import { createChangeNotice } from './change-notice.ts';
import { createAskedCalls } from './asked-calls.ts';
import type { FaceMode } from './face-mode.ts';
import { parseFaceMode } from './face-mode.ts';
import type { FaceParts } from './face-server.ts';
import { createFaceServer } from './face-server.ts';
import { awaitFirstTools } from './first-tools.ts';
import { jsonRpcError } from './json-rpc-error.ts';
import { createLeanLane } from './lean-lane.ts';
import type { OpenPass } from '../wire/pass-port.ts';
import type { Sealing } from './pass/carried-state.ts';
import type { AdmitCall } from './admit-call.ts';
import type { PassThroughOptions } from './pass/pass-through.ts';
import { createTranslator } from './translate/translator.ts';
import { createTaskOwners } from './pass/task-owners.ts';
import { createPassThrough } from './pass/pass-through.ts';
import { createMailbox } from './mail/mailbox.ts';
import { readJsonBody } from './request-body.ts';
import type { StdioConnection } from './serve-stdio.ts';
import { serveStdio } from './serve-stdio.ts';
import type { SharedSessions } from './sessions/sessions.ts';
import { createSessions } from './sessions/sessions.ts';
import { createToolPages } from './tool-pages.ts';
import type { Visitor } from './visitor.ts';
import { contextOf } from './visitor.ts';

/** What the face is made of. */
export interface McpFaceOptions {
  /** How Gantry names itself to clients. */
  readonly name: string;
  readonly version: string;
  /** Told to clients when they connect. */
  readonly instructions?: string | undefined;
  readonly toolsets: Toolsets;
  readonly invoker: Invoker;
  /**
   * Resolves when the tools of servers are there for the first time. Lists, and calls of tools that are not known, wait for it, up to 3 s
   * after the face was made. Default: nothing to wait for.
   */
  readonly firstReady?: (() => Promise<void>) | undefined;
  /** How long lists and calls of unknown names wait for that, from the making of the face on. Default 3,000 ms. */
  readonly firstToolsPatienceMs?: number | undefined;
  /** The mode of a client whose address names none; default `auto`. */
  readonly modeFor?: ((client: string | undefined) => FaceMode) | undefined;
  readonly clock: Clock;
  readonly log: Log;
  /** Sessions of 2025 clients at most; default 1,000. */
  readonly maxSessions?: number | undefined;
  /** An unused session of a 2025 client is dropped after so long; default 1,800,000 ms. */
  readonly sessionIdleMs?: number | undefined;
  /** Makes sessions known to every process on one store; default they are known here only. */
  readonly sharedSessions?:
    | (Omit<SharedSessions, 'mailbox'> & {
        /** What processes leave for each other. */
        readonly letters: KeyValue<string>;
      })
    | undefined;
  /** Reaches single servers, which are passed through; without it there are none. */
  readonly pass?:
    | ({ readonly open: OpenPass; readonly sealing: Sealing } & Pick<
        PassThroughOptions,
        'mayReach' | 'mayCall' | 'restricts'
      > & {
          /** Whose tasks of servers are. */
          readonly taskOwners?: KeyValue<string> | undefined;
        })
    | undefined;
  /** Whether a client reads and writes the shared folder too; default none does. */
  readonly sharesFolder?: ((client: string | undefined) => boolean) | undefined;
  /** Whether a client gets long results whole; default they are split. */
  readonly wantsWholeResults?: ((client: string | undefined) => boolean) | undefined;
  /** Lets a call of a client begin, or says why it may not now. Default every call begins. */
  readonly admit?: AdmitCall | undefined;
  /** The largest request body; default 4 MiB. */
  readonly maxBodyBytes?: number | undefined;
}

/** Gantry as an MCP server, for clients of the 2025 revisions and of 2026-07-28. Disposing closes every connection. */
export interface McpFace extends AsyncDisposable {
  /** Serves one HTTP request. Host, Origin and token have been checked; `client` is the identity found by them. */
  handleHttp(request: Request, options?: { readonly client?: string | undefined }): Promise<Response>;
  /** Serves one HTTP request for a single server, passed through as it is. What was checked for {@link McpFace.handleHttp} was checked. */
  handlePass(request: Request, server: string, options?: { readonly client?: string | undefined }): Promise<Response>;
  /** Serves one client over the given streams, by default those of the process. */
  serveStdio(options?: {
    readonly input?: Readable | undefined;
    readonly output?: Writable | undefined;
    readonly mode?: FaceMode | undefined;
  }): StdioConnection;
  /** Ends the streams on which clients only wait for notices, so that they do not hold up a server that stops. */
  endStreams(): void;
}

const changeDelayMs = 100;

/**
 * Makes the face. A client is told of changed tools 100 ms after the first of a burst of changes, and only when its own list is another
 * now.
 */
export const createMcpFace = (options: McpFaceOptions): McpFace => {
  const { toolsets, clock, log, maxBodyBytes = 4 * 1024 * 1024, modeFor = () => 'auto' } = options;
  const firstTools = awaitFirstTools(clock, options.firstReady, options.firstToolsPatienceMs ?? 3_000);
  const { sharedSessions } = options;
  const mailbox = sharedSessions && createMailbox({ ...sharedSessions, clock, log });
  const shared = sharedSessions && mailbox && { ...sharedSessions, mailbox };
  const parts: FaceParts = {
    ...options,
    firstTools,
    pages: createToolPages(toolsets),
    schemaValidator: new AjvJsonSchemaValidator(),
    // What a client carries from one of its requests to the next is sealed.
    askedCalls: options.pass && createAskedCalls({ clock, log, sealing: options.pass.sealing, mailbox }),
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
  const translator = createTranslator({
    clock,
    log,
    schemaValidator: parts.schemaValidator,
    sealing: options.pass?.sealing ?? noSealing,
    shared,
  });
  const pass = createPassThrough({
    translator,
    open: options.pass?.open ?? noServers,
    mayReach: options.pass?.mayReach ?? (() => true),
    mayCall: options.pass?.mayCall ?? (() => true),
    restricts: options.pass?.restricts ?? (() => false),
    admit: options.admit,
    taskOwners: options.pass?.taskOwners && createTaskOwners({ owners: options.pass.taskOwners, clock, log }),
    sealing: options.pass?.sealing ?? noSealing,
    invoker: options.invoker,
    log,
    maxBodyBytes,
    ending: streams.signal,
  });
  const stopWatching = toolsets.onChange(notice.changed);

  const serve = async (request: Request, body: unknown, visitor: Visitor): Promise<Response> => {
    if (firstTools.pending && isList(body)) await firstTools.pending;
    const plain = lane.modern(request, body, visitor) ?? sessions.inLane(request, body, visitor);
    if (plain) return plain;
    const isLegacy = await isLegacyRequest(request, body);
    const target = !isLegacy && isListen(body) ? endingWith(request, streams.signal) : request;
    visitors.set(target, visitor);
    const parsed = { parsedBody: body };
    if (!isLegacy) return modernFor(visitor).fetch(target, parsed);
    return sessions.handle(target, body, visitor) ?? withoutSession(target, parsed);
  };

  return {
    handleHttp: async (request, { client } = {}) => {
      let visitor: Visitor;
      try {
        const named = new URL(request.url).searchParams.get('mode');
        visitor = toVisitor(client, parseFaceMode(named, modeFor(client)));
      } catch (error) {
        if (!GantryError.is(error)) throw error;
        return jsonRpcError(400, -32_602, error.message);
      }
      const body = await readJsonBody(request, maxBodyBytes);
      return body.ok ? serve(request, body.json, visitor) : body.refusal;
    },
    handlePass: (request, server, { client } = {}) => pass(request, server, client),
    serveStdio: ({ input, output, mode = modeFor(undefined) } = {}) => {
      const connection = newId();
      return serveStdio((era) => open({ ...toVisitor(undefined, mode), connection }, era), { input, output, log });
    },
    endStreams: () => {
      streams.abort();
      sessions.endStreams();
      translator.endStreams();
    },
    [Symbol.asyncDispose]: async () => {
      firstTools[Symbol.dispose]();
      stopWatching();
      notice[Symbol.dispose]();
      lane[Symbol.dispose]();
      const closing = [...handlers.values()].map(({ handler }) => handler.close());
      await Promise.all([
        ...closing,
        parts.askedCalls?.[Symbol.asyncDispose](),
        sessions[Symbol.asyncDispose](),
        translator[Symbol.asyncDispose](),
      ]);
      await Promise.all([...connected.keys()].map((server) => server.close()));
      await mailbox?.[Symbol.asyncDispose]();
    },
  };
};

/** A client that is told when its list changes. */
interface Listener {
  readonly visitor: Visitor;
  /** The stamp of the list that it was last told of. */
  told: string;
}

const noServers: OpenPass = async (name) => {
  throw new GantryError('server_unknown', `There is no server "${name.slice(0, 100)}" to be passed through to.`);
};

const noSealing: Sealing = {
  seal: () => {
    throw new GantryError('usage', 'Nothing is passed through here, so nothing is sealed.');
  },
  open: () => {
    throw new GantryError('usage', 'Nothing is passed through here, so nothing was sealed.');
  },
};

const isList = (body: unknown): boolean => isObject(body) && body['method'] === 'tools/list';

const isListen = (body: unknown): boolean => isObject(body) && body['method'] === 'subscriptions/listen';

const endingWith = (request: Request, signal: AbortSignal): Request =>
  new Request(request.url, {
    method: request.method,
    headers: request.headers,
    signal: AbortSignal.any([request.signal, signal]),
  });
