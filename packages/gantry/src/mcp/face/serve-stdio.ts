import type { Readable, Writable } from 'node:stream';
import type { McpRequestContext, Server } from '@modelcontextprotocol/server';
import { serveStdio as serve, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { messageOf } from '../../kernel/errors.ts';
import type { Log } from '../../kernel/log.ts';

/** One client over standard input and output. */
export interface StdioConnection extends AsyncDisposable {
  /** Resolves when the client has closed its end, or the connection was disposed. */
  readonly closed: Promise<void>;
}

/** Serves one client over streams; `open` makes its protocol server once its revision is known. */
export const serveStdio = (
  open: (era: McpRequestContext['era']) => Server,
  options: { readonly input?: Readable | undefined; readonly output?: Writable | undefined; readonly log: Log },
): StdioConnection => {
  const { input, output, log } = options;
  const transport = new StdioServerTransport(input, output);
  const closed = Promise.withResolvers<void>();
  const connection = serve(({ era }) => open(era), {
    transport,
    onerror: (error) => log.debug({ reason: messageOf(error) }, 'an MCP message over standard input was not served'),
  });
  const { onclose } = transport;
  transport.onclose = () => {
    onclose?.();
    closed.resolve();
  };
  return { closed: closed.promise, [Symbol.asyncDispose]: () => connection.close() };
};
