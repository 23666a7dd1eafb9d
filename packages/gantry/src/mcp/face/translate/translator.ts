/**
 * Speaks with a client in its protocol generation where the server speaks the other one, or is no HTTP server: a protocol server for the
 * client, each of whose requests goes on in the words of the other. Requests to HTTP servers go alone, so that what the server says in the
 * middle of one reaches the client that made it; programs are reached over the bridge's connection, which all clients share.
 */
import type { ServerContext } from '@modelcontextprotocol/server';
import { createMcpHandler, ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import type { Clock } from '../../../kernel/clock.ts';
import { messageOf } from '../../../kernel/errors.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';
import type { Log } from '../../../kernel/log.ts';
import type { KeyValue } from '../../../store/key-value.ts';
import type { Sealing } from '../pass/carried-state.ts';
import type { SharedSessions } from '../sessions/sessions.ts';
import { createSessions } from '../sessions/sessions.ts';
import { anything } from '../ask-on-stream.ts';
import type { ClientSays } from '../../wire/sessions/client-says.ts';
import { metaKeys, saysInMeta } from '../../wire/sessions/client-says.ts';
import { toLegacyResult, toModernResult } from './generations.ts';
import { createListenToOlder } from './listen-to-older.ts';
import { createListenToProgram } from './listen-to-program.ts';
import { createNewerRequests, revision } from './newer-requests.ts';
import type { OlderClientParts, OpenServer } from './older-client.ts';
import { openOlderClient } from './older-client.ts';
import { relayNewerOverLink } from './relay-over-link.ts';
import { createRelayToNewer } from './relay-to-newer.ts';
import { createRelayToNewerProgram } from './relay-to-newer-program.ts';
import { createRelayToOlder } from './relay-to-older.ts';
import type { Visit } from './relayed.ts';
import { isParkedState } from '../pass/is-parked-state.ts';
import { refusalOf } from './relayed.ts';
import { toProtocolError } from '../mail/rpc-error.ts';
import { offeredBy, runsTasks } from './offered.ts';
import { takesPart } from './takes-part.ts';
import { createKeptResults } from './tasks/kept-results.ts';
import { createTasksAtNewer } from './tasks/tasks-at-newer.ts';
import { createTasksAtOlder } from './tasks/tasks-at-older.ts';
import { createWatchTasks } from './tasks/watch-tasks.ts';

/** Serves a client over a protocol server of its own generation. */
export interface Translator extends AsyncDisposable {
  modern(request: Request, body: unknown, from: Visit): Promise<Response>;
  /** Serves what opens or names a session of this translator; undefined for anything else. */
  legacy(request: Request, body: unknown, from: Visit): Promise<Response> | undefined;
  endStreams(): void;
}

interface NewerVisit extends Visit {
  readonly says: ClientSays;
}

/** Whether the headers say what a `subscriptions/listen` says itself; what does not is refused as any other request. */
const agreesWith = (headers: Headers, params: Readonly<Record<string, unknown>>): boolean => {
  const meta = isObject(params['_meta']) ? params['_meta'] : {};
  return (
    meta[metaKeys.protocolVersion] === revision &&
    (headers.get('mcp-protocol-version') ?? revision) === revision &&
    (headers.get('mcp-method') ?? 'subscriptions/listen') === 'subscriptions/listen'
  );
};

/** Makes the translator. */
export const createTranslator = (options: {
  readonly clock: Clock;
  readonly log: Log;
  readonly sealing: Sealing;
  readonly shared?: SharedSessions | undefined;
  /** Results that are kept for clients of 2025, which fetch them. */
  readonly taskResults: KeyValue<string>;
}): Translator => {
  const { clock, log, sealing, shared, taskResults } = options;
  // Shared, because a server makes one of its own otherwise, and there may be a server per request.
  const schemaValidator = new AjvJsonSchemaValidator();
  const visits = new WeakMap<Request, Visit>();
  const newer = new WeakMap<Request, NewerVisit>();
  const streams = new AbortController();
  const sendNewer = createNewerRequests({ clock, log });
  const relayToOlder = createRelayToOlder({ sealing, clock, log, mailbox: shared?.mailbox });
  const relayToNewer = createRelayToNewer(sendNewer);
  const relayToNewerProgram = createRelayToNewerProgram({ sealing, send: sendNewer, clock });
  const tasksAtOlder = createTasksAtOlder({ sealing, clock, log, mailbox: shared?.mailbox });
  const kept = createKeptResults({ results: taskResults, sealing, clock });
  const tasksAtNewer = createTasksAtNewer({ kept, clock, log });
  const listenToOlder = createListenToOlder({ clock, log, watchTasks: createWatchTasks(tasksAtOlder) });
  const listenToProgram = createListenToProgram({ send: sendNewer, clock, log });

  const open: OpenServer = (first, generation, relay) => {
    const { target } = first;
    const { link } = target;
    const { capabilities, methods } = offeredBy(target, generation);
    const server = new Server(link.serverInfo, {
      capabilities,
      jsonSchemaValidator: schemaValidator,
      ...(link.instructions !== undefined && { instructions: link.instructions }),
    });
    server.onerror = (error) =>
      log.debug({ server: target.name, reason: messageOf(error) }, 'a message could not be passed on');
    const serve = async (method: string, given: unknown, ctx: ServerContext): Promise<JsonObject> => {
      const visit = visitOf(ctx) ?? first;
      const params = isObject(given) ? (given as JsonObject) : {};
      try {
        const refusal = method === 'tools/call' ? await refusalOf(visit.target, params) : undefined;
        if (refusal) return generation === 'modern' ? toModernResult(refusal) : toLegacyResult(refusal);
        const { place, client } = visit;
        const result = await relay({ target: visit.target, client, place, method, params, ctx });
        if (method === 'tools/call') await visit.noteResult?.(result);
        return result;
      } catch (error) {
        throw toProtocolError(error);
      }
    };
    for (const method of methods)
      // To the SDK a task of 2025 is no result of a call, which it refuses where it knows the method.
      if (method === 'tools/call' && 'tasks' in capabilities)
        server.fallbackRequestHandler = async (request, ctx) => {
          if (request.method !== method) throw new ProtocolError(ProtocolErrorCode.MethodNotFound, 'Method not found');
          return await serve(method, request.params, ctx);
        };
      else
        server.setRequestHandler(method, { params: anything, result: anything }, (given, ctx) =>
          serve(method, given, ctx),
        );
    return server;
  };
  // Within a session, the request that is served; without one the server is of one request alone.
  const visitOf = (ctx: ServerContext): Visit | undefined => ctx.http?.req && visits.get(ctx.http.req);

  const handler = createMcpHandler(
    ({ requestInfo }) => {
      const visit = (requestInfo && newer.get(requestInfo)) as NewerVisit;
      const { target, says } = visit;
      if (target.era === 'modern') return open(visit, 'modern', relayToNewerProgram);
      return open(visit, 'modern', async (relayed) => {
        if (runsTasks(target.link.capabilities, target.era)) {
          const ofTask = await tasksAtOlder.relay(relayed, says);
          if (ofTask) return ofTask;
        }
        const takesIt = takesPart(says) || isParkedState(relayed.ctx.mcpReq.requestState());
        const result = takesIt ? await relayToOlder.relay(relayed, says) : undefined;
        return result ?? (await relayNewerOverLink(relayed, { clock, log }));
      });
    },
    {
      legacy: 'reject',
      onerror: (error) => log.debug({ reason: messageOf(error) }, 'an MCP request was not served'),
    },
  );

  const sessionParts: OlderClientParts = { open, relayToNewer, tasksAtNewer, sendNewer, clock, log };
  const sessions = createSessions({
    // A session is opened within the first request that names the server.
    open: ({ connection = '' }, request, initialize) =>
      openOlderClient(sessionParts, { first: visits.get(request) as Visit, session: connection, initialize }),
    shared,
    lane: { inSession: () => undefined },
    clock,
    log,
  });

  return {
    modern: async (request, body, from) => {
      const { target } = from;
      const params = isObject(body) && isObject(body['params']) ? body['params'] : {};
      const says = saysInMeta(isObject(params['_meta']) ? params['_meta'] : {});
      const visit = { ...from, says };
      if (isObject(body) && body['method'] === 'subscriptions/listen' && agreesWith(request.headers, params)) {
        const listen = target.era === 'modern' ? listenToProgram : listenToOlder;
        return await listen({ ...visit, message: body, signal: AbortSignal.any([request.signal, streams.signal]) });
      }
      newer.set(request, visit);
      return await handler.fetch(request, { parsedBody: body });
    },
    legacy: (request, body, visit) => {
      visits.set(request, visit);
      // Sessions of one server are nothing to another, nor those of one client to the next.
      const client = `${visit.target.name}\n${visit.client ?? ''}`;
      return sessions.handle(request, body, { client, mode: 'auto' });
    },
    endStreams: () => {
      streams.abort();
      sessions.endStreams();
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all([
        relayToOlder[Symbol.asyncDispose](),
        tasksAtOlder[Symbol.asyncDispose](),
        handler.close(),
        sessions[Symbol.asyncDispose](),
      ]);
    },
  };
};
