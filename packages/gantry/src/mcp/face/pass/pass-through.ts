/**
 * `/mcp/{server}`: one server, passed through as it is. Requests and answers go on byte for byte, in whichever protocol generation the
 * client speaks; what is added is policy alone: filters, guards, and questions that nobody may answer. Nothing is kept between requests:
 * the session of an older server travels sealed in the session id of its client, so any process can serve any request.
 */
import type { Invoker } from '../../../invoke/invoker.ts';
import { GantryError, messageOf } from '../../../kernel/errors.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';
import type { Log } from '../../../kernel/log.ts';
import { typedToolName } from '../../../schema/tool-name.ts';
import type { OpenPass, PassTarget } from '../../wire/pass-port.ts';
import { readJsonBody } from '../request-body.ts';
import type { AdmitCall } from '../admit-call.ts';
import type { Sealing } from './carried-state.ts';
import { unwrapState } from './carried-state.ts';
import { answerBody } from './pass-answer.ts';
import { isSessionToken } from '../sessions/session-token.ts';
import type { Translator } from '../translate/translator.ts';
import { rpcErrorResponse, rpcResultResponse } from './rpc-response.ts';
import { unclearIn } from './unclear-message.ts';

/** What passing through works with. */
export interface PassThroughOptions {
  readonly open: OpenPass;
  readonly sealing: Sealing;
  readonly invoker: Pick<Invoker, 'observe'>;
  /** Whether a client may reach a server; to others it does not exist. */
  readonly mayReach: (client: string | undefined, server: string) => boolean;
  /** Whether it may call a tool of the server, by the name it has at `/mcp`. */
  readonly mayCall: (client: string | undefined, server: string, typedName: string) => boolean;
  /** Whether rules choose among the tools of servers for this client at all. */
  readonly restricts: (client: string | undefined) => boolean;
  readonly admit?: AdmitCall | undefined;
  readonly log: Log;
  readonly maxBodyBytes: number;
  /** Aborts when the gateway stops. */
  readonly ending: AbortSignal;
  /** Serves clients whose messages cannot go on as they are. */
  readonly translator: Pick<Translator, 'modern' | 'legacy'>;
}

/** Serves one request for a server; `client` is the identity that the gateway found. */
export type PassThrough = (request: Request, server: string, client: string | undefined) => Promise<Response>;

const sessionHeader = 'mcp-session-id';
const passedHeaders: ReadonlySet<string> = new Set([
  'accept',
  'content-type',
  'mcp-protocol-version',
  'mcp-method',
  'mcp-name',
  'last-event-id',
]);
const parameterHeader = /^mcp-param-/;
const returnedHeaders = ['content-type', 'cache-control', 'mcp-protocol-version', 'retry-after', 'allow'];

/** Makes it. */
export const createPassThrough = (options: PassThroughOptions): PassThrough => {
  const { open, sealing, invoker, mayReach, mayCall, restricts, admit, log, maxBodyBytes, ending, translator } =
    options;

  const modernOnly = new Set<string>();

  return async (request, server, client) => {
    const body = await readJsonBody(request, maxBodyBytes);
    if (!body.ok) return body.refusal;
    const message = isObject(body.json) ? body.json : undefined;
    const unclear = body.text === undefined ? undefined : unclearIn(body.text, message);
    if (unclear !== undefined) return rpcErrorResponse(message, 400, -32_600, unclear);
    const controller = new AbortController();
    const abort = (): void => controller.abort(new GantryError('cancelled', 'The client has gone.'));
    request.signal.addEventListener('abort', abort, { once: true });
    // What only waits for news would hold up a gateway that stops; a call gets its time.
    if (isWaiting(request, message)) ending.addEventListener('abort', abort, { once: true });
    const { signal } = controller;
    const stack = new DisposableStack();
    stack.defer(() => {
      request.signal.removeEventListener('abort', abort);
      ending.removeEventListener('abort', abort);
    });
    let target: PassTarget;
    try {
      target = restricted(stack.use(await open(server, signal)).target, client);
      if (!mayReach(client, target.name))
        throw new GantryError('server_unknown', `There is no server "${server.slice(0, 100)}".`);
    } catch (error) {
      stack.dispose();
      return refused(error, message);
    }
    const context = `pass/${target.name}/${client ?? ''}`;
    const handed: Handed = { target, message, context, sealing, request, signal };
    try {
      const refusal = await policyRefusal(handed);
      if (refusal) return refusal;
      if (message?.['method'] === 'tools/call') {
        const admitted = admit?.(client);
        if (admitted && 'refusal' in admitted) return tooMany(message, admitted);
        if (admitted) stack.use(admitted);
      }
      const send = async (): Promise<Response> => {
        const translated = await inOtherWords(handed, body.json, client);
        return translated ?? (await passOrTranslate(handed, body.text, stack.move(), body.json, client));
      };
      return message?.['method'] === 'tools/call' ? await observed(handed, send) : await send();
    } catch (error) {
      if (!GantryError.is(error))
        log.warn({ server: target.name, reason: messageOf(error) }, 'a request could not be passed on');
      return refused(error, message);
    } finally {
      stack.dispose();
    }
  };

  /** Where the messages cannot go on as they are, the answer of a protocol server in between. */
  async function inOtherWords(
    handed: Handed,
    json: unknown,
    client: string | undefined,
  ): Promise<Response | undefined> {
    const { target, request } = handed;
    const isModern = speaksModern(request, handed.message);
    if (isModern && target.isHttp && target.era === 'modern') return undefined;
    if (isModern) return await translator.modern(request, json, { target, client });
    const session = request.headers.get(sessionHeader);
    const isOwn = session !== null && isSessionToken(session);
    if (target.isHttp && !modernOnly.has(target.name) && !isOwn) return undefined;
    return await translator.legacy(request, json, { target, client });
  }

  /** Sends a message on; a server that turns out to speak only the newer generation is translated for from then on. */
  async function passOrTranslate(
    handed: Handed,
    text: string | undefined,
    held: Disposable,
    json: unknown,
    client: string | undefined,
  ): Promise<Response> {
    const { target, message, request } = handed;
    if (message?.['method'] !== 'initialize' || target.era !== 'modern') return await pass(handed, text, held);
    const response = await pass(handed, text, held);
    const answer = await response.text();
    if (response.ok && !refusesGeneration(answer)) return new Response(answer, response);
    const translated = translator.legacy(request, json, { target, client });
    if (!translated) return new Response(answer, response);
    modernOnly.add(target.name);
    return await translated;
  }

  /** The server as this client may see it: fewer tools, perhaps. */
  function restricted(target: PassTarget, client: string | undefined): PassTarget {
    const sees = (tool: string): boolean => mayCall(client, target.name, typedToolName(target.name, tool));
    if (!restricts(client)) return target;
    return { ...target, hasFilters: true, isAllowed: (tool) => target.isAllowed(tool) && sees(tool) };
  }

  async function observed({ target, message, request }: Handed, send: () => Promise<Response>): Promise<Response> {
    const name = typedToolName(target.name, toolIn(message) ?? 'unknown');
    return await invoker.observe(name, traceOf(request), async () => {
      const response = await send();
      return { value: response, status: response.ok ? 'ok' : 'execution_failed' };
    });
  }
};

/** A request on its way. */
interface Handed {
  readonly target: PassTarget;
  readonly message: Readonly<Record<string, unknown>> | undefined;
  /** What is sealed for this client and server is bound to it. */
  readonly context: string;
  readonly sealing: Sealing;
  readonly request: Request;
  readonly signal: AbortSignal;
}

/** What policy says of a call before it is sent; undefined lets it go on. */
const policyRefusal = async ({ target, message }: Handed): Promise<Response | undefined> => {
  if (message?.['method'] !== 'tools/call') return undefined;
  const tool = toolIn(message);
  if (tool === undefined) return undefined;
  // The words of the server itself would be as good; that it is there is nobody's to know.
  if (!target.isAllowed(tool)) return rpcErrorResponse(message, 200, -32_602, `Tool ${tool.slice(0, 100)} not found`);
  const params = message['params'];
  const args = isObject(params) && isObject(params['arguments']) ? (params['arguments'] as JsonObject) : {};
  const rejection = await target.rejectionOf(tool, args);
  return rejection === undefined
    ? undefined
    : rpcResultResponse(message, { content: [{ type: 'text', text: rejection }], isError: true });
};

const pass = async (handed: Handed, text: string | undefined, held: Disposable): Promise<Response> => {
  const { target, message, request, signal, context, sealing } = handed;
  const session = request.headers.get(sessionHeader);
  let upstreamSession: string | undefined;
  let body = text;
  try {
    upstreamSession = session === null ? undefined : sealing.open(session, context);
    body = withOwnAnswers(handed, text);
  } catch {
    held[Symbol.dispose]();
    return session === null
      ? rpcErrorResponse(message, 400, -32_602, 'The requestState was not made here, or for another client.')
      : rpcErrorResponse(message, 404, -32_001, 'Session not found; initialize again.');
  }
  const headers = forwardedHeaders(request.headers, upstreamSession);
  let response: Response;
  try {
    response = await target.send({ method: methodOf(request), headers, body, signal });
  } catch (error) {
    held[Symbol.dispose]();
    throw error;
  }
  const answered: Record<string, string> = {};
  for (const name of returnedHeaders) {
    const value = response.headers.get(name);
    if (value !== null) answered[name] = value;
  }
  const opened = response.headers.get(sessionHeader);
  if (opened !== null) answered[sessionHeader] = session ?? sealing.seal(opened, context);
  // A sign-in of the gateway's own is missing; the client has nothing to do with it.
  if (response.status === 401 || response.status === 403) {
    await response.body?.cancel();
    held[Symbol.dispose]();
    return rpcErrorResponse(
      message,
      502,
      -32_603,
      `Server "${target.name}" asks the gateway to sign in: gantry servers login ${target.name}`,
    );
  }
  return new Response(await answerBody({ ...handed, response, upstreamSession, body, headers }, held), {
    status: response.status,
    headers: answered,
  });
};

/** A client of 2026-07-28 says so in every request; revisions are dates, which compare as text. */
const speaksModern = ({ headers }: Request, message: Handed['message']): boolean => {
  const params = message?.['params'];
  const meta = isObject(params) && isObject(params['_meta']) ? params['_meta'] : {};
  const said = meta['io.modelcontextprotocol/protocolVersion'] ?? headers.get('mcp-protocol-version');
  return typeof said === 'string' && said >= '2026-07-28';
};

// MCP 2026-07-28: an unsupported protocol version; or a method that the server does not have any more.
const refusesGeneration = (answer: string): boolean => /"code"\s*:\s*-(?:32022|32601)\b/.test(answer);

const isWaiting = ({ method }: Request, message: Handed['message']): boolean =>
  method === 'GET' || message?.['method'] === 'subscriptions/listen';

const tooMany = (
  message: Readonly<Record<string, unknown>>,
  { refusal, retryAfterS }: { readonly refusal: string; readonly retryAfterS: number },
): Response => {
  const response = rpcErrorResponse(message, 429, -32_000, refusal);
  response.headers.set('retry-after', String(retryAfterS));
  return response;
};

const methodOf = ({ method }: Request): 'POST' | 'GET' | 'DELETE' =>
  method === 'GET' || method === 'DELETE' ? method : 'POST';

const forwardedHeaders = (given: Headers, session: string | undefined): Record<string, string> => {
  const headers: Record<string, string> = {};
  for (const [name, value] of given) if (passedHeaders.has(name) || parameterHeader.test(name)) headers[name] = value;
  if (session !== undefined) headers[sessionHeader] = session;
  return headers;
};

/** The body with the answers that Gantry gave in an earlier round, where it gave any; else exactly what the client wrote. */
const withOwnAnswers = ({ message, context, sealing }: Handed, text: string | undefined): string | undefined => {
  const params = message?.['params'];
  if (!isObject(params)) return text;
  const carried = unwrapState(sealing, context, params['requestState']);
  if (!carried) return text;
  const { requestState: _wrapped, inputResponses, ...rest } = params;
  const given = isObject(inputResponses) ? inputResponses : {};
  return JSON.stringify({
    ...message,
    params: {
      ...rest,
      inputResponses: { ...given, ...carried.responses },
      ...(carried.requestState !== undefined && { requestState: carried.requestState }),
    },
  });
};

const toolIn = (message: Handed['message']): string | undefined => {
  const params = message?.['params'];
  const name = isObject(params) ? params['name'] : undefined;
  return typeof name === 'string' ? name : undefined;
};

const traceOf = (request: Request): { readonly traceparent: string } | undefined => {
  const traceparent = request.headers.get('traceparent');
  return traceparent === null ? undefined : { traceparent };
};

const refused = (error: unknown, message: Handed['message']): Response => {
  if (!GantryError.is(error)) return rpcErrorResponse(message, 502, -32_603, 'The request could not be passed on.');
  switch (error.code) {
    case 'server_unknown':
    case 'config_invalid':
      return rpcErrorResponse(message, 404, -32_601, error.message);
    case 'cancelled':
      return rpcErrorResponse(message, 499, -32_603, error.message);
    default:
      return rpcErrorResponse(message, 502, -32_603, error.message);
  }
};
