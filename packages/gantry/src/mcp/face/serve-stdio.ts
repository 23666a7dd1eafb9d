import type { Readable, Writable } from 'node:stream';
import type { McpRequestContext, Server } from '@modelcontextprotocol/server';
import { ProtocolErrorCode } from '@modelcontextprotocol/server';
import { serveStdio as serve, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { messageOf } from '../../kernel/errors.ts';
import { limitLines, maxLineBytes, overlongText } from './limit-lines.ts';
import type { Log } from '../../kernel/log.ts';

/** One client over standard input and output. */
export interface StdioConnection extends AsyncDisposable {
  /** Resolves when the client has closed its end, or the connection was disposed. */
  readonly closed: Promise<void>;
}

/** Serves one client over streams; `open` makes its protocol server once its revision is known. */
export const serveStdio = (
  open: (era: McpRequestContext['era']) => Server,
  options: {
    readonly input?: Readable | undefined;
    readonly output?: Writable | undefined;
    readonly log: Log;
    /** The longest message; default 10 MiB. A request that is longer is answered with an error. */
    readonly maxBytes?: number | undefined;
  },
): StdioConnection => {
  const { input = process.stdin, output, log, maxBytes = maxLineBytes } = options;
  const limited = limitLines(input, maxBytes, (id) => {
    const message = overlongText(maxBytes);
    log.warn({ id, maxBytes }, message);
    if (id === undefined) return;
    transport
      .send({ jsonrpc: '2.0', id, error: { code: ProtocolErrorCode.InvalidRequest, message } })
      .catch((error: unknown) => log.debug({ reason: messageOf(error) }, 'an MCP client could not be answered'));
  });
  const transport = new StdioServerTransport(limited.lines, output, { maxBufferSize: 2 * maxBytes });
  const closed = Promise.withResolvers<void>();
  const connection = serve(({ era }) => open(era), {
    transport,
    onerror: (error) => log.debug({ reason: messageOf(error) }, 'an MCP message over standard input was not served'),
  });
  const { onclose } = transport;
  transport.onclose = () => {
    onclose?.();
    limited.stop();
    closed.resolve();
  };
  return { closed: closed.promise, [Symbol.asyncDispose]: () => connection.close() };
};
