/**
 * Serves plain `tools/list` and `tools/call` over HTTP without a protocol server, which costs several times what the call
 * itself does. It takes only requests about whose form there can be no doubt; all others, and all refusals of a bad form,
 * are the protocol server's, so both must answer a plain request alike.
 */
import type { CallToolResult, ListToolsResult, Server } from '@modelcontextprotocol/server';
import { ProtocolError, ProtocolErrorCode, SERVER_INFO_META_KEY } from '@modelcontextprotocol/server';
import type { Clock } from '../../kernel/clock.ts';
import { messageOf } from '../../kernel/errors.ts';
import { isObject } from '../../kernel/json.ts';
import { askedInMeta, askedOfOlder } from './asks-of-client.ts';
import type { CallAnswer } from './call-tool.ts';
import { callTool } from './call-tool.ts';
import type { FaceParts } from './face-server.ts';
import type { PlainCall, PlainRequest } from './plain-request.ts';
import { toPlainModernRequest, toPlainSessionRequest } from './plain-request.ts';
import { createReply, jsonResponse } from './reply.ts';
import type { RunningCalls } from './running-calls.ts';
import { createRunningCalls } from './running-calls.ts';
import type { Visitor } from './visitor.ts';

/** What the lane knows of a session of a 2025 client. */
export interface LaneSession {
  readonly id: string;
  readonly visitor: Visitor;
  readonly server: Server;
  /** By request id. */
  readonly calls: RunningCalls;
}

/** Serves what is plain; undefined leaves the request to the protocol server. */
export interface LeanLane extends Disposable {
  modern(request: Request, body: unknown, visitor: Visitor): Promise<Response> | undefined;
  inSession(request: Request, body: unknown, session: LaneSession): Promise<Response> | undefined;
}

/** How answers are said in a revision. */
interface Wording {
  /** The page as JSON in bytes; undefined where only the protocol server can say it. */
  list(page: ListToolsResult): Buffer<ArrayBuffer> | undefined;
  result(answer: CallAnswer): CallToolResult;
}

/** Makes the lane. Disposing cancels the calls of clients without a session; a session's calls end with it. */
export const createLeanLane = (parts: FaceParts, clock: Clock): LeanLane => {
  const { name, version, pages } = parts;
  const modernCalls = createRunningCalls();
  const serverInfo = { [SERVER_INFO_META_KEY]: { name, version } };
  // Pages are made once per visitor and version of the registry, and so are their bytes.
  const modernPages = new WeakMap<ListToolsResult, Buffer<ArrayBuffer>>();
  const sessionPages = new WeakMap<ListToolsResult, Buffer<ArrayBuffer>>();

  const modernWording: Wording = {
    list: (page) =>
      bytesOf(modernPages, page, () => ({
        ...page,
        resultType: 'complete',
        ttlMs: 0,
        cacheScope: 'private',
        _meta: serverInfo,
      })),
    result: ({ result }) => {
      const told = withTextOfValue(result);
      return { ...told, resultType: 'complete', _meta: { ...told._meta, ...serverInfo } };
    },
  };
  const sessionWording = (server: Server): Wording => ({
    list: (page) => (page.tools.every(hasObjectResult) ? bytesOf(sessionPages, page, () => page) : undefined),
    result: ({ result, outputSchema }) => server.projectCallToolResult(result, outputSchema),
  });

  const run = (
    { id }: PlainRequest,
    call: PlainCall,
    visitor: Visitor,
    options: {
      readonly wording: Wording;
      readonly controller: AbortController;
      readonly headers?: Readonly<Record<string, string>> | undefined;
      readonly onGone?: (() => void) | undefined;
      readonly onEnd: () => void;
    },
  ): Promise<Response> => {
    const { wording, controller, headers, onGone, onEnd } = options;
    const reply = createReply({ clock, headers, onGone });
    const answer = async (): Promise<void> => {
      let text: string;
      try {
        const answered = await callTool(parts, visitor, {
          ...call,
          signal: controller.signal,
          notify: (params) =>
            reply.notify(JSON.stringify({ method: 'notifications/progress', params, jsonrpc: '2.0' })),
        });
        text = JSON.stringify({ result: wording.result(answered), jsonrpc: '2.0', id });
      } catch (error) {
        const code = error instanceof ProtocolError ? error.code : ProtocolErrorCode.InternalError;
        text = JSON.stringify({ jsonrpc: '2.0', id, error: { code, message: messageOf(error) } });
      } finally {
        onEnd();
      }
      // Neither revision wants a response to a request that was cancelled.
      if (controller.signal.aborted) reply.abandon();
      else reply.finish(text);
    };
    void answer();
    return reply.response;
  };

  const list = (
    request: PlainRequest,
    visitor: Visitor,
    wording: Wording,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Response> | undefined => {
    const page = wording.list(pages.page(visitor, undefined));
    if (!page) return undefined;
    const answer = async (): Promise<Response> => {
      // Another process may have been asked before.
      await pages.prepare(visitor);
      return listResponse(request, wording.list(pages.page(visitor, undefined)) ?? page, headers);
    };
    return answer();
  };

  return {
    modern: (request, body, visitor) => {
      const plain = toPlainModernRequest(request, body);
      if (!plain) return undefined;
      if (!plain.call) return list(plain, visitor, modernWording);
      // In the middle of the call the client may be asked something.
      if (parts.askedCalls && askedInMeta(plain.call.meta)) return undefined;
      const { signal } = request;
      const key = {};
      const controller = modernCalls.begin(key);
      if (!controller) return undefined;
      // 2026-07-28: closing the response cancels the request.
      const cancel = (): void => void modernCalls.cancel(key);
      if (signal.aborted) cancel();
      else signal.addEventListener('abort', cancel, { once: true });
      const onEnd = (): void => {
        modernCalls.end(key);
        signal.removeEventListener('abort', cancel);
      };
      return run(plain, plain.call, visitor, { wording: modernWording, controller, onGone: cancel, onEnd });
    },
    inSession: (request, body, { id, visitor, server, calls }) => {
      if (isCancellation(body, calls)) return Promise.resolve(new Response(null, { status: 202 }));
      const plain = toPlainSessionRequest(request, body);
      if (!plain) return undefined;
      const headers = { 'mcp-session-id': id };
      const wording = sessionWording(server);
      if (!plain.call) return list(plain, visitor, wording, headers);
      if (askedOfOlder(server.getClientCapabilities())) return undefined;
      const controller = calls.begin(plain.id);
      // 2025-11-25: a connection that breaks does not cancel its requests.
      const onEnd = (): void => calls.end(plain.id);
      return controller && run(plain, plain.call, visitor, { wording, controller, headers, onEnd });
    },
    [Symbol.dispose]: () => modernCalls.cancelAll(),
  };
};

const listResponse = (
  { id }: PlainRequest,
  page: Buffer<ArrayBuffer>,
  headers?: Readonly<Record<string, string>>,
): Response => {
  const ending = Buffer.from(`,"jsonrpc":"2.0","id":${JSON.stringify(id)}}`);
  return jsonResponse(Buffer.concat([beginning, page, ending]), headers);
};

const beginning = Buffer.from('{"result":');

const bytesOf = (
  known: WeakMap<ListToolsResult, Buffer<ArrayBuffer>>,
  page: ListToolsResult,
  toWire: () => unknown,
): Buffer<ArrayBuffer> => {
  let bytes = known.get(page);
  if (!bytes) {
    bytes = Buffer.from(JSON.stringify(toWire()));
    known.set(page, bytes);
  }
  return bytes;
};

// Before 2026-07-28 a structured result is an object; the protocol server knows how to say others.
const hasObjectResult = ({ outputSchema }: ListToolsResult['tools'][number]): boolean =>
  outputSchema === undefined || outputSchema['type'] === 'object';

// SEP-2106: a structured value that is no object also comes as text.
const withTextOfValue = (result: CallToolResult): CallToolResult => {
  const { structuredContent: value, content } = result;
  if (value === undefined || isObject(value) || content.some(({ type }) => type === 'text')) return result;
  return { ...result, content: [...content, { type: 'text', text: JSON.stringify(value) }] };
};

/** Cancels a call that the lane runs. */
const isCancellation = (body: unknown, calls: RunningCalls): boolean => {
  if (!isObject(body) || body['method'] !== 'notifications/cancelled' || !isObject(body['params'])) return false;
  return calls.cancel(body['params']['requestId']);
};
