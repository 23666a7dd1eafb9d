/**
 * Calls of tools over Streamable HTTP past the SDK's transport, whose headers, signals and checks cost more than all else of a call that is
 * answered at once. Whatever is no plain answer (a stream, an error of HTTP, another shape) is handed to the SDK's transport as the response
 * to its own request, so that nothing of what it knows is lost or written again.
 */
import type {
  FetchLike,
  JSONRPCMessage,
  JSONRPCRequest,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { isObject } from '../../../kernel/json.ts';
import { heldResponse } from '../../../net/held-stream.ts';
import { encodedHeader } from '../../wire/header-value.ts';
import { isEventStream } from '../../wire/sessions/event-texts.ts';

/** Where the calls go. */
export interface LeanCallsOptions {
  readonly url: URL;
  /** Of every request. */
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: FetchLike;
  /** Makes the SDK's transport, which sends by the given fetch. */
  readonly open: (fetch: FetchLike) => StreamableHTTPClientTransport;
}

type Sending = NonNullable<Parameters<StreamableHTTPClientTransport['send']>[1]>;

/** Makes the SDK's transport, with a shorter way for calls. */
export const withLeanCalls = (options: LeanCallsOptions): StreamableHTTPClientTransport => {
  const { url, fetch } = options;
  // By the body that they answer, which has the id of its request.
  const received = new Map<string, Response>();
  const running = new Set<AbortController>();
  const transport = options.open((to, init) => {
    const response = typeof init?.body === 'string' ? received.get(init.body) : undefined;
    if (!response) return fetch(to, init);
    received.delete(init?.body as string);
    return Promise.resolve(response);
  });
  const sendByTransport = transport.send.bind(transport);
  const closeTransport = transport.close.bind(transport);
  let ownHeaders: Readonly<Record<string, string>> | undefined;

  const sendCall = async (message: JSONRPCRequest, sending: Sending = {}): Promise<void> => {
    const { requestSignal } = sending;
    const stack = new DisposableStack();
    const ending = new AbortController();
    const abort = (): void => ending.abort(requestSignal?.reason);
    if (requestSignal?.aborted) abort();
    requestSignal?.addEventListener('abort', abort, { once: true });
    running.add(ending);
    stack.defer(() => {
      requestSignal?.removeEventListener('abort', abort);
      running.delete(ending);
    });
    try {
      const body = JSON.stringify(message);
      const { sessionId, protocolVersion } = transport;
      const headers = {
        ...(ownHeaders ??= headersOf(options.headers)),
        ...sending.headers,
        ...(protocolVersion !== undefined && { 'mcp-protocol-version': protocolVersion }),
        ...(sessionId !== undefined && { 'mcp-session-id': sessionId }),
        ...headersOfBody(message),
      };
      const response = await fetch(url, { method: 'POST', headers, body, signal: ending.signal }).catch(reported);
      if (response.status === 200 && isJson(response)) {
        const answer: unknown = await response.json().catch(reported);
        if (isAnswer(answer, message)) transport.onmessage?.(answer);
        else await handOver(body, Response.json(answer));
        return;
      }
      const held = isEventStream(response.headers) ? heldResponse(response, stack.move()) : response;
      await handOver(body, held);
    } finally {
      stack.dispose();
    }

    function reported(error: unknown): never {
      if (requestSignal?.aborted !== true) transport.onerror?.(error as Error);
      throw error;
    }

    async function handOver(body: string, response: Response): Promise<void> {
      received.set(body, response);
      try {
        await sendByTransport(message, sending);
      } finally {
        received.delete(body);
      }
    }
  };

  return Object.assign(transport, {
    send: (message: JSONRPCMessage | JSONRPCMessage[], sending?: Sending) =>
      isCall(message) && sending?.resumptionToken === undefined
        ? sendCall(message, sending)
        : sendByTransport(message, sending),
    close: async () => {
      await closeTransport();
      for (const ending of running) ending.abort();
    },
  });
};

const isCall = (message: JSONRPCMessage | JSONRPCMessage[]): message is JSONRPCRequest =>
  !Array.isArray(message) && 'method' in message && message.method === 'tools/call' && 'id' in message;

const isJson = ({ headers }: Response): boolean =>
  headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase() === 'application/json';

/** Whether the SDK would take it for the answer to this request, without any doubt. */
const isAnswer = (answer: unknown, { id }: JSONRPCRequest): answer is JSONRPCMessage => {
  if (!isObject(answer) || answer['jsonrpc'] !== '2.0' || answer['id'] !== id || Object.keys(answer).length !== 3)
    return false;
  const { result, error } = answer;
  if (isObject(result)) return result['_meta'] === undefined || isObject(result['_meta']);
  return isObject(error) && Number.isSafeInteger(error['code']) && typeof error['message'] === 'string';
};

/** What all calls say: the headers of the entry, which may take more kinds of answers than the protocol's two. */
const headersOf = (given: Readonly<Record<string, string>>): Readonly<Record<string, string>> => {
  const { accept = '', ...rest } = Object.fromEntries(new Headers(given));
  const kinds = accept.split(',').map((kind) => kind.trim().toLowerCase());
  const accepted = new Set([...kinds.filter((kind) => kind !== ''), 'application/json', 'text/event-stream']);
  return { ...rest, 'content-type': 'application/json', accept: [...accepted].join(', ') };
};

/** MCP 2026-07-28, "Standard request headers" (SEP-2243): what a message of that revision says of itself is said by its headers too. */
const headersOfBody = ({ method, params }: JSONRPCRequest): Readonly<Record<string, string>> => {
  const version = params?._meta?.[versionKey];
  if (typeof version !== 'string') return {};
  const name = params?.['name'];
  return {
    'mcp-protocol-version': version,
    'mcp-method': method,
    ...(typeof name === 'string' && { 'mcp-name': encodedHeader(name) }),
  };
};

const versionKey = 'io.modelcontextprotocol/protocolVersion';
