/**
 * Speaks with a client in its protocol generation where the server speaks the other one, or is no HTTP server: a protocol server for the
 * client, each of whose requests goes on over the bridge's connection. What only one of the two generations can say (subscriptions to
 * single resources, log levels, tasks) is not offered here; everything else is said in the other's words.
 */
import type { jsonSchemaValidator, ServerContext, StandardSchemaV1 } from '@modelcontextprotocol/server';
import { createMcpHandler, ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server';
import type { Clock } from '../../../kernel/clock.ts';
import { GantryError, messageOf } from '../../../kernel/errors.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';
import type { Log } from '../../../kernel/log.ts';
import type { PassTarget } from '../../wire/pass-port.ts';
import { createSessions } from '../sessions.ts';
import { readHandedBack, toLegacyResult, toModernResult, withoutHopMeta } from './generations.ts';

/** Serves a client over a protocol server of its own generation. */
export interface Translator extends AsyncDisposable {
  modern(request: Request, body: unknown, target: PassTarget): Promise<Response>;
  /** Serves what opens or names a session of this translator; undefined for anything else. */
  legacy(
    request: Request,
    body: unknown,
    target: PassTarget,
    client: string | undefined,
  ): Promise<Response> | undefined;
  endStreams(): void;
}

type Generation = 'modern' | 'legacy';

const anything: StandardSchemaV1<unknown, unknown> = {
  '~standard': { version: 1, vendor: 'gantry', validate: (value) => ({ value }) },
};

const methodsByCapability: Readonly<Record<string, readonly string[]>> = {
  tools: ['tools/list', 'tools/call'],
  prompts: ['prompts/list', 'prompts/get'],
  resources: ['resources/list', 'resources/templates/list', 'resources/read'],
  completions: ['completion/complete'],
};

// A server that asks again whatever it is told would never end.
const maxRounds = 20;

/** Makes the translator. */
export const createTranslator = (options: {
  readonly clock: Clock;
  readonly log: Log;
  readonly schemaValidator: jsonSchemaValidator;
}): Translator => {
  const { clock, log, schemaValidator } = options;
  const targets = new WeakMap<Request, PassTarget>();
  let opening: PassTarget | undefined;

  const open = (target: PassTarget, generation: Generation): Server => {
    const { link } = target;
    const offered = Object.keys(methodsByCapability).filter((name) => isObject(link.capabilities[name]));
    const server = new Server(link.serverInfo, {
      capabilities: Object.fromEntries(offered.map((name) => [name, {}])),
      jsonSchemaValidator: schemaValidator,
      ...(link.instructions !== undefined && { instructions: link.instructions }),
    });
    server.onerror = (error) =>
      log.debug({ server: target.name, reason: messageOf(error) }, 'a message could not be passed on');
    for (const method of offered.flatMap((name) => methodsByCapability[name] ?? []))
      server.setRequestHandler(method, { params: anything, result: anything }, async (params, ctx) => {
        try {
          return await relay(target, server, generation, method, isObject(params) ? (params as JsonObject) : {}, ctx);
        } catch (error) {
          throw toProtocolError(error);
        }
      });
    return server;
  };

  const handler = createMcpHandler(
    ({ requestInfo }) => open((requestInfo && targets.get(requestInfo)) as PassTarget, 'modern'),
    {
      legacy: 'reject',
      onerror: (error) => log.debug({ reason: messageOf(error) }, 'an MCP request was not served'),
    },
  );
  const sessions = createSessions({
    // A session is opened within the request that asks for it, which names the server.
    open: () => open(opening as PassTarget, 'legacy'),
    lane: { inSession: () => undefined },
    clock,
    log,
  });

  return {
    modern: async (request, body, target) => {
      targets.set(request, target);
      return await handler.fetch(request, { parsedBody: body });
    },
    legacy: (request, body, target, client) => {
      opening = target;
      // Sessions of one server are nothing to another, nor those of one client to the next.
      return sessions.handle(request, body, { client: `${target.name}\n${client ?? ''}`, mode: 'auto' });
    },
    endStreams: () => sessions.endStreams(),
    [Symbol.asyncDispose]: async () => {
      await Promise.all([handler.close(), sessions[Symbol.asyncDispose]()]);
    },
  };
};

const relay = async (
  target: PassTarget,
  server: Server,
  generation: Generation,
  method: string,
  params: JsonObject,
  ctx: ServerContext,
): Promise<JsonObject> => {
  const refusal = method === 'tools/call' ? await refusalOf(target, params) : undefined;
  if (refusal) return said(refusal, generation);
  const { signal, _meta: meta } = ctx.mcpReq;
  const progressToken = meta?.progressToken;
  const onProgress =
    progressToken === undefined
      ? undefined
      : (progress: JsonObject): void =>
          void ctx.mcpReq
            .notify({ method: 'notifications/progress', params: { ...progress, progressToken } })
            // Only a client that has gone is not told, and its call ends for that.
            .catch(() => undefined);
  const sent = withoutHopMeta({ ...params, ...(meta && { _meta: meta as JsonObject }) });
  let round: JsonObject = {};
  for (let count = 0; count < maxRounds; count += 1) {
    const raw = await target.link.request(method, { ...sent, ...round }, { signal, onProgress });
    const asked = readHandedBack(raw);
    if (!asked) return said(filtered(target, method, isObject(raw) ? (raw as JsonObject) : {}), generation);
    round = { ...(await answersOf(target, server, asked.requests, signal)), ...asked.state };
  }
  throw new ProtocolError(ProtocolErrorCode.InternalError, `Server "${target.name}" kept asking; it was given up.`);
};

const said = (result: JsonObject, generation: Generation): JsonObject =>
  generation === 'modern' ? toModernResult(result) : toLegacyResult(result);

const refusalOf = async (target: PassTarget, params: JsonObject): Promise<JsonObject | undefined> => {
  const name = typeof params['name'] === 'string' ? params['name'] : '';
  if (!target.isAllowed(name))
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Tool ${name.slice(0, 100)} not found`);
  const args = isObject(params['arguments']) ? params['arguments'] : {};
  const text = await target.rejectionOf(name, args);
  return text === undefined ? undefined : { content: [{ type: 'text', text }], isError: true };
};

const filtered = (target: PassTarget, method: string, result: JsonObject): JsonObject =>
  method === 'tools/list' && Array.isArray(result['tools'])
    ? {
        ...result,
        tools: (result['tools'] as readonly JsonObject[]).filter(
          ({ name }) => typeof name === 'string' && target.isAllowed(name),
        ),
      }
    : result;

/** Asks a client of 2025 over its session what a server of 2026 wants to know; whoever cannot answer declines. */
const answersOf = async (
  target: PassTarget,
  server: Server,
  requests: Readonly<Record<string, { readonly method: string; readonly params: unknown }>>,
  signal: AbortSignal,
): Promise<JsonObject> => {
  const can = server.getClientCapabilities() ?? {};
  const answers: [string, JsonObject][] = [];
  for (const [key, { method, params }] of Object.entries(requests)) {
    const capability = {
      'elicitation/create': 'elicitation',
      'sampling/createMessage': 'sampling',
      'roots/list': 'roots',
    }[method];
    const isDeclined = method === 'elicitation/create' && target.isDeclined(params);
    if (isDeclined || (method === 'elicitation/create' && !can.elicitation)) {
      answers.push([key, { action: 'decline' }]);
      continue;
    }
    if (capability === undefined || !(capability in can))
      throw new ProtocolError(-32_021, `Server "${target.name}" wants ${method}, which this client does not offer.`);
    const request = { method, params: isObject(params) ? { ...params } : {} };
    answers.push([key, (await server.request(request, anything, { signal, timeout: longestMs })) as JsonObject]);
  }
  return answers.length > 0 ? { inputResponses: Object.fromEntries(answers) } : {};
};

// A person may take long; the call itself is bounded where it runs.
const longestMs = 15 * 60_000;

const toProtocolError = (error: unknown): unknown => {
  if (!GantryError.is(error)) return error;
  const rpc = error.details['rpc'];
  if (isObject(rpc) && typeof rpc['code'] === 'number')
    return new ProtocolError(rpc['code'], String(rpc['message']), rpc['data']);
  return new ProtocolError(ProtocolErrorCode.InternalError, error.message);
};
