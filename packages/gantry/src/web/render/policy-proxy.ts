import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, request } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex, Readable } from 'node:stream';
import { promisify } from 'node:util';
import type { buildConnector } from 'undici';
import { GantryError, messageOf } from '../../kernel/errors.ts';
import type { Target } from '../../net/address/target.ts';
import { parseTarget } from '../../net/address/target.ts';

/** The only way out of the browser: an HTTP proxy on loopback that dials judged addresses. Disposing cuts every connection. */
export interface PolicyProxy extends AsyncDisposable {
  /** Address to give to the browser. */
  readonly url: string;
  readonly port: number;
}

/** What a proxy is made of. */
export interface PolicyProxyOptions {
  /** Connects to judged addresses only, without TLS: what is inside a tunnel is the browser's business. */
  readonly connect: buildConnector.connector;
  /** All that one page may download, bytes as they travel; then its connections are cut. */
  readonly maxBytes: number;
  /** Told of every request that was refused or could not be made. */
  readonly onProblem: (host: string, error: GantryError) => void;
}

/**
 * Starts a proxy for one page. Every host that the browser names, literal addresses and redirects too, comes here as text and is judged
 * and dialled here; the browser itself resolves and dials nothing.
 */
export const startPolicyProxy = async ({ connect, maxBytes, onProblem }: PolicyProxyOptions): Promise<PolicyProxy> => {
  const sockets = new Set<Duplex>();
  let leftBytes = maxBytes;

  const keep = <S extends Duplex>(socket: S): S => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    // A broken connection ends its counterpart through "close"; the browser or the server has seen the reason.
    socket.on('error', () => {});
    return socket;
  };

  const cutAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };

  const count = (host: string, source: Readable): void => {
    source.on('data', (piece: Uint8Array) => {
      const before = leftBytes;
      leftBytes -= piece.byteLength;
      if (leftBytes > 0 || before <= 0) return;
      onProblem(host, new GantryError('response_too_large', `The page loads more than ${maxBytes} bytes.`));
      cutAll();
    });
  };

  const dial = async ({ host, port }: Target): Promise<Socket> => {
    if (leftBytes <= 0) throw new GantryError('response_too_large', `The page loads more than ${maxBytes} bytes.`);
    const wanted = { hostname: host, host, protocol: 'http:', port: String(port) };
    return keep(await promisify<buildConnector.Options, Socket>(asCallback(connect))(wanted));
  };

  const forward = async (incoming: IncomingMessage, answer: ServerResponse): Promise<void> => {
    const target = parseTarget(incoming.url ?? '');
    const socket = await dial(target);
    answer.once('close', () => socket.destroy());
    const { pathname, search, host } = target.url;
    const outgoing = request({
      method: incoming.method,
      path: pathname + search,
      headers: { ...withoutHopHeaders(incoming.headers), host, connection: 'close' },
      createConnection: () => socket,
    });
    // A server can still break its answer in the middle; what has come by then is all there is.
    outgoing.on('error', () => answer.headersSent && answer.destroy());
    answer.on('error', () => socket.destroy());
    incoming.pipe(outgoing);
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
    count(target.host, response);
    answer.writeHead(response.statusCode ?? 502, withoutHopHeaders(response.headers));
    response.once('error', () => answer.destroy());
    response.pipe(answer);
  };

  const tunnel = async (incoming: IncomingMessage, client: Duplex, head: Uint8Array): Promise<void> => {
    const target = parseTarget(`https://${incoming.url}`);
    const socket = await dial(target);
    socket.once('close', () => client.destroy());
    client.once('close', () => socket.destroy());
    client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    socket.write(head);
    count(target.host, socket);
    socket.pipe(client).pipe(socket);
  };

  const toProblem = (thrown: unknown, named: string): { status: number; text: string } => {
    const error = GantryError.is(thrown)
      ? thrown
      : new GantryError('execution_failed', messageOf(thrown), { cause: thrown });
    onProblem(named, error);
    return { status: error.code === 'address_refused' ? 403 : 502, text: error.message };
  };

  const server = createServer((incoming, answer) => {
    forward(incoming, answer).catch((thrown: unknown) => {
      const { status, text } = toProblem(thrown, incoming.url ?? '');
      if (answer.headersSent) answer.destroy();
      else answer.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(text);
    });
  });
  server.on('connection', keep);
  server.on('connect', (incoming: IncomingMessage, client: Duplex, head: Uint8Array) => {
    tunnel(incoming, client, head).catch((thrown: unknown) => {
      const { status } = toProblem(thrown, incoming.url ?? '');
      client.end(`HTTP/1.1 ${status} Refused\r\nconnection: close\r\n\r\n`);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close');
      server.close();
      cutAll();
      await closed;
    },
  };
};

const asCallback =
  (connect: buildConnector.connector) =>
  (wanted: buildConnector.Options, callback: (error: Error | null, socket: Socket) => void): void =>
    connect(wanted, (error, socket) => callback(error, socket as Socket));

const hopHeaders: ReadonlySet<string> = new Set([
  'connection',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

const withoutHopHeaders = (headers: IncomingMessage['headers']): IncomingMessage['headers'] =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !hopHeaders.has(name)));
