import type { JSONRPCMessage, JSONRPCRequest, RequestId } from '@modelcontextprotocol/client';
import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { messageOf } from '../kernel/errors.ts';
import { limitLines, maxLineBytes, overlongText } from '../mcp/face/limit-lines.ts';

/** A client on standard input and output, connected to a gateway. */
export interface StdioProxy extends AsyncDisposable {
  /** Resolves when the client has closed its end. */
  readonly closed: Promise<void>;
}

/**
 * Passes MCP messages between standard input and output and the Streamable HTTP endpoint of a gateway. Messages are not changed, so
 * whatever revision the client speaks is spoken to the gateway.
 */
export const proxyStdio = async (
  endpoint: URL,
  options: {
    readonly token?: string | undefined;
    /** Is told why a message without an answer did not get through. */
    readonly onLost: (reason: string) => void;
  },
): Promise<StdioProxy> => {
  const { token, onLost } = options;
  const limited = limitLines(process.stdin, maxLineBytes, (id) => {
    const message = overlongText(maxLineBytes);
    if (id === undefined) onLost(message);
    else tellClient({ jsonrpc: '2.0', id, error: { code: -32_600, message } });
  });
  const client = new StdioServerTransport(limited.lines, process.stdout, { maxBufferSize: 2 * maxLineBytes });
  const gateway = new StreamableHTTPClientTransport(endpoint, {
    ...(token !== undefined && { requestInit: { headers: { authorization: `Bearer ${token}` } } }),
  });
  const closed = Promise.withResolvers<void>();
  const running = new Map<RequestId, AbortController>();
  let initializeId: RequestId | undefined;

  // What cannot be written to the client has nobody left to read it.
  const tellClient = (message: JSONRPCMessage): void => void client.send(message).catch(() => closed.resolve());

  const fail = (request: JSONRPCRequest, reason: string): void => {
    if (!running.delete(request.id)) return;
    const message = `The gateway at ${endpoint.origin} did not answer "${request.method}": ${reason}`;
    tellClient({ jsonrpc: '2.0', id: request.id, error: { code: -32_603, message } });
  };

  const forwardRequest = (request: JSONRPCRequest): void => {
    if (request.method === 'initialize') initializeId = request.id;
    const controller = new AbortController();
    running.set(request.id, controller);
    gateway
      .send(request, {
        requestSignal: controller.signal,
        onRequestStreamEnd: () => fail(request, 'the connection was lost'),
      })
      .catch((error: unknown) => fail(request, messageOf(error)));
  };

  client.onmessage = (message) => {
    if (isJSONRPCRequest(message)) return forwardRequest(message);
    if (isJSONRPCNotification(message) && message.method === 'notifications/cancelled') {
      const id = message.params?.['requestId'] as RequestId;
      const request = running.get(id);
      running.delete(id);
      // Since 2026-07-28 a request over HTTP is cancelled by ending its stream; before, a client says so and has a session.
      if (gateway.sessionId === undefined) return request?.abort();
    }
    // Nobody waits for an answer to the rest; a gateway that has gone is told with the next request.
    gateway.send(message).catch((error: unknown) => onLost(messageOf(error)));
  };
  gateway.onmessage = (message) => {
    if (!('method' in message) && message.id !== undefined) {
      running.delete(message.id);
      // Later requests of this revision carry the version in a header.
      if (message.id === initializeId && isJSONRPCResultResponse(message)) {
        const { protocolVersion } = message.result as { readonly protocolVersion?: unknown };
        if (typeof protocolVersion === 'string') gateway.setProtocolVersion(protocolVersion);
      }
    }
    tellClient(message);
  };
  client.onclose = () => {
    limited.stop();
    closed.resolve();
  };
  await gateway.start();
  await client.start();
  return {
    closed: closed.promise,
    [Symbol.asyncDispose]: async () => {
      for (const controller of running.values()) controller.abort();
      if (gateway.sessionId !== undefined)
        await gateway.terminateSession().catch((error: unknown) => onLost(messageOf(error)));
      await gateway.close();
      await client.close();
    },
  };
};
