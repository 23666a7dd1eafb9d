/**
 * `/mcp/{server}`: one server, passed through as it is. Requests and answers go on byte for byte, in whichever protocol generation the
 * client speaks; what is added is policy alone: filters, guards, and questions that nobody may answer. Nothing is kept between requests:
 * the session of an older server travels sealed in the session id of its client, so any process can serve any request.
 */
import type { Invoker } from '../../../invoke/invoker.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { CallContext } from '../../../tool/context.ts';
import { outcomeOf } from './passed-outcome.ts';
import { GantryError, messageOf } from '../../../kernel/errors.ts';
import { isObject } from '../../../kernel/json.ts';
import type { Log } from '../../../kernel/log.ts';
import { wholeResponse } from '../../../net/whole-response.ts';
import { typedPromptName, typedToolName } from '../../../schema/tool-name.ts';
import type { OpenPass, PassTarget } from '../../wire/pass-port.ts';
import { unknownServerText } from '../../wire/unknown-server.ts';
import { readJsonBody } from '../request-body.ts';
import type { AdmitCall } from '../admit-call.ts';
import type { CallPlace } from '../call-place.ts';
import { createCallPlace } from '../call-place.ts';
import type { Sealing } from './carried-state.ts';
import { unwrapState } from './carried-state.ts';
import { answerBody } from './pass-answer.ts';
import { callRefusal } from './call-refusal.ts';
import { isEventStream } from '../../wire/sessions/event-texts.ts';
import { headerConflict } from './header-conflict.ts';
import { heldResponse } from '../../../net/held-stream.ts';
import { refusesOlder } from './refuses-older.ts';
import { isSessionToken } from '../sessions/session-token.ts';
import { withSignal } from '../with-signal.ts';
import { isParkedState } from './is-parked-state.ts';
import type { Translator } from '../translate/translator.ts';
import { isServedMethod, noSession, noSuchTask, otherMethod, refused, tooMany } from './own-answers.ts';
import { mayListTasks, withOwnTasks } from './own-tasks.ts';
import { forwardedHeaders, returnedHeaders, sessionHeader } from './pass-headers.ts';
import { rpcErrorResponse } from './rpc-response.ts';
import { promptRefusal } from './prompt-refusal.ts';
import type { TaskOwners } from './task-owners.ts';
import { unclearIn } from './unclear-message.ts';
import type { Stoppable } from './until-stopped.ts';
import { piecesUntilStopped, untilStopped } from './until-stopped.ts';

/** What passing through works with. */
export interface PassThroughOptions {
  readonly open: OpenPass;
  readonly sealing: Sealing;
  readonly invoker: Pick<Invoker, 'observe'>;
  /** Whether a client may reach a server; to others it does not exist. */
  readonly mayReach: (client: string | undefined, server: string) => boolean;
  /** Whether it may have a tool or prompt of the server, by the name it has at `/mcp`. */
  readonly mayCall: (client: string | undefined, server: string, typedName: string) => boolean;
  /** Whether rules choose among the tools and prompts of servers for this client at all. */
  readonly restricts: (client: string | undefined) => boolean;
  readonly admit?: AdmitCall | undefined;
  /** Whose tasks of servers are; without it they are everybody's who knows their ids. */
  readonly taskOwners?: TaskOwners | undefined;
  readonly log: Log;
  readonly maxBodyBytes: number;
  /** Aborts when the gateway begins to stop. */
  readonly ending: AbortSignal;
  /** Aborts with the reason when it has waited long enough for requests that run. */
  readonly stopping: AbortSignal;
  /** Serves clients whose messages cannot go on as they are. */
  readonly translator: Pick<Translator, 'modern'> & {
    legacy(...given: Parameters<Translator['legacy']>): Promise<Response | undefined>;
  };
}

/** Serves one request for a server; `client` is the identity that the gateway found. */
export type PassThrough = (request: Request, server: string, client: string | undefined) => Promise<Response>;

/** Makes it. */
export const createPassThrough = (options: PassThroughOptions): PassThrough => {
  const { open, sealing, invoker, mayReach, mayCall, restricts, admit, log, maxBodyBytes, translator } = options;
  const { taskOwners, ending, stopping } = options;

  // Found out by the first client that says hello, and until the server is connected anew.
  const modernOnly = new WeakSet<PassTarget>();

  return async (request, server, client) => {
    if (!isServedMethod(request.method)) return otherMethod();
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
    let opened: PassTarget;
    let target: PassTarget;
    try {
      // Before it is looked for: how that ends would say that it is there.
      if (!mayReach(client, server)) throw new GantryError('server_unknown', unknownServerText(server));
      opened = stack.use(await open(server, signal)).target;
      target = restricted(opened, client);
    } catch (error) {
      stack.dispose();
      return refused(error, message);
    }
    const context = `pass/${target.name}/${client ?? ''}`;
    const isCall = message?.['method'] === 'tools/call';
    const stoppable = stoppableIn(request, message, { stopping, abort });
    const owner = client !== undefined && taskOwners ? { client, taskOwners } : undefined;
    const handed: Handed = {
      opened,
      target,
      message,
      context,
      sealing,
      request,
      signal,
      abort,
      stoppable,
      noteTask: owner && isCall ? (text) => owner.taskOwners.noteText(target.name, owner.client, text) : undefined,
    };
    try {
      if (owner && message && (await owner.taskOwners.isOthers(target.name, owner.client, message)))
        return noSuchTask(message);
      const refusal = isCall ? await callRefusal(target, message) : message && promptRefusal(target, message);
      if (refusal) return refusal;
      const running = stack.use(new DisposableStack());
      let place: CallPlace | undefined;
      // A call that waits for its client has its place already, in the process that holds it.
      if (isCall && !goesOn(handed)) {
        const admitted = await admit?.(client);
        if (admitted && 'refusal' in admitted) return tooMany(message, admitted);
        if (admitted) place = running.use(createCallPlace(admitted));
      }
      const send = async (): Promise<Response> => {
        const translated = await inOtherWords(handed, body.json, client, place);
        if (!translated) {
          const passed = await passOrTranslate(handed, body.text, stack.move(), body.json, client);
          if (!owner || !mayListTasks(request.method, message)) return passed;
          return await withOwnTasks(passed, target.name, (ids) =>
            owner.taskOwners.ownOf(target.name, owner.client, ids),
          );
        }
        if (!stoppable || !isEventStream(translated.headers)) return translated;
        // A call has ended when its stream has.
        return heldResponse(translated, stack.move(), (next) => piecesUntilStopped(next, stoppable));
      };
      const sending = isCall ? observed(handed, client, send) : send();
      return await (stoppable ? untilStopped(sending, stoppable) : sending);
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
    place: CallPlace | undefined,
  ): Promise<Response | undefined> {
    const { opened, target, request, stoppable } = handed;
    const noteResult =
      client === undefined ? undefined : (result: unknown) => taskOwners?.note(target.name, client, result);
    // A stop gives it up while its client is still there.
    const given = (): Request => (stoppable ? withSignal(request, handed.signal) : request);
    const isModern = speaksModern(request, handed.message);
    if (isModern && target.isHttp && target.era === 'modern') return undefined;
    if (isModern) return await translator.modern(given(), json, { target, client, noteResult, place });
    const session = request.headers.get(sessionHeader);
    const isOwn = session !== null && isSessionToken(session);
    // A session that the server itself has opened goes on, whatever was found since.
    if (target.isHttp && !isOwn && (session !== null || !modernOnly.has(opened))) return undefined;
    const translated = await translator.legacy(given(), json, { target, client, noteResult });
    return translated ?? (target.isHttp ? undefined : noSession(handed.message, session));
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
    if (!(await refusesOlder(message, answer, response.headers))) return new Response(answer || null, response);
    const translated = await translator.legacy(request, json, { target, client });
    if (!translated) return new Response(answer || null, response);
    modernOnly.add(handed.opened);
    return translated;
  }

  /** The server as this client may see it: fewer tools and prompts, perhaps. */
  function restricted(target: PassTarget, client: string | undefined): PassTarget {
    if (!restricts(client)) return target;
    const { name } = target;
    return {
      ...target,
      hasFilters: true,
      isAllowed: (tool) => target.isAllowed(tool) && mayCall(client, name, typedToolName(name, tool)),
      hidesPrompts: true,
      isPromptAllowed: (prompt) => mayCall(client, name, typedPromptName(name, prompt)),
    };
  }

  async function observed(
    handed: Handed,
    client: string | undefined,
    send: () => Promise<Response>,
  ): Promise<Response> {
    const { target, message, request } = handed;
    const tool = toolIn(message);
    // Names that clients invent must not become series of their own.
    const name = typedToolName(target.name, tool !== undefined && target.isKnown(tool) ? tool : 'unknown');
    const context: CallContext = { caller: 'passthrough', client, trace: traceOf(request) };
    return await invoker.observe({ name, arguments: argumentsIn(message) }, context, async () => {
      const response = await send();
      return { value: response, outcome: outcomeOf(response) };
    });
  }
};

/** A request on its way. */
interface Handed {
  /** The server as it was found; one and the same until it is connected anew. */
  readonly opened: PassTarget;
  /** As this client may see it. */
  readonly target: PassTarget;
  readonly message: Readonly<Record<string, unknown>> | undefined;
  /** What is sealed for this client and server is bound to it. */
  readonly context: string;
  readonly sealing: Sealing;
  readonly request: Request;
  readonly signal: AbortSignal;
  readonly abort: () => void;
  /** Undefined where nobody waits for the end of the answer. */
  readonly stoppable: Stoppable | undefined;
  /** Remembers whose a task is that an answer brings; undefined where no answer does. */
  readonly noteTask: ((text: string) => Promise<void>) | undefined;
}

const pass = async (handed: Handed, text: string | undefined, held: Disposable): Promise<Response> => {
  const { target, message, request, signal, abort, context, sealing, noteTask, stoppable } = handed;
  const session = request.headers.get(sessionHeader);
  let upstreamSession: string | undefined;
  try {
    upstreamSession = session === null ? undefined : sealing.open(session, context);
  } catch {
    held[Symbol.dispose]();
    return noSession(message, session);
  }
  const headers = forwardedHeaders(request, upstreamSession);
  const conflict = message && headerConflict(headers, message, target);
  if (conflict !== undefined) {
    held[Symbol.dispose]();
    return rpcErrorResponse(message, 400, -32_020, `Bad Request: ${conflict}`);
  }
  const body = withOwnAnswers(handed, text);
  let response: Response;
  try {
    response = await target.send({ method: methodOf(request), headers, body, signal });
  } catch (error) {
    held[Symbol.dispose]();
    throw error;
  }
  const answered = returnedHeaders(response.headers);
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
  const answer = await answerBody(
    { target, message, context, sealing, signal, abort, response, headers, noteTask, stoppable },
    held,
  );
  const head = { status: response.status, headers: answered };
  return typeof answer === 'string' ? wholeResponse(answer, head) : new Response(answer, head);
};

/** A client of 2026-07-28 says so in every request; revisions are dates, which compare as text. */
const speaksModern = ({ headers }: Request, message: Handed['message']): boolean => {
  const params = message?.['params'];
  const meta = isObject(params) && isObject(params['_meta']) ? params['_meta'] : {};
  const said = meta['io.modelcontextprotocol/protocolVersion'] ?? headers.get('mcp-protocol-version');
  return typeof said === 'string' && said >= '2026-07-28';
};

/** Whether a client of 2026 comes back to what a server of 2025 has asked. */
const goesOn = ({ request, message, target }: Handed): boolean =>
  target.era === 'legacy' &&
  speaksModern(request, message) &&
  isObject(message?.['params']) &&
  isParkedState(message['params']['requestState']);

const isWaiting = ({ method }: Request, message: Handed['message']): boolean =>
  method === 'GET' || message?.['method'] === 'subscriptions/listen';

/** What a client waits for the answer to, not what it only listens with. */
const stoppableIn = (
  request: Request,
  message: Handed['message'],
  parts: Omit<Stoppable, 'id'>,
): Stoppable | undefined => {
  const id = message?.['id'];
  const isAwaited = message?.['method'] !== undefined && (typeof id === 'string' || typeof id === 'number');
  return isAwaited && !isWaiting(request, message) ? { id, ...parts } : undefined;
};

const methodOf = ({ method }: Request): 'POST' | 'GET' | 'DELETE' =>
  method === 'GET' || method === 'DELETE' ? method : 'POST';

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

const argumentsIn = (message: Handed['message']): JsonObject => {
  const params = message?.['params'];
  const args = isObject(params) ? params['arguments'] : undefined;
  return isObject(args) ? (args as JsonObject) : {};
};

const traceOf = (request: Request): { readonly traceparent: string } | undefined => {
  const traceparent = request.headers.get('traceparent');
  return traceparent === null ? undefined : { traceparent };
};
