import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Server as NetServer } from 'node:net';
import { createServer } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { delay } from '../kernel/abort.ts';
import { GantryError, messageOf } from '../kernel/errors.ts';
import type { McpFace } from '../mcp/face/mcp-face.ts';
import type { AppOptions } from './create-app.ts';
import { createFetch } from './create-fetch.ts';
import { inUrl, isLoopback } from './trusted-address.ts';

/** What the listener of the gateway needs. */
export interface HttpServerOptions extends AppOptions {
  /** 0 takes any free port. */
  readonly port: number;
  readonly face: Pick<McpFace, 'handleHttp' | 'handlePass' | 'endStreams'>;
  /** Ends the calls that still run when a stop has waited long enough, so that their callers are answered. */
  readonly abortCalls?: (() => void) | undefined;
}

/** A running listener. */
export interface HttpServer extends AsyncDisposable {
  /** Where it listens, such as `http://127.0.0.1:7420`. */
  readonly url: string;
  readonly port: number;
  /**
   * Takes no more connections and lets running requests end within `graceMs`. Then calls are aborted, what that makes of them is
   * written within a second, and what is left is cut.
   */
  stop(graceMs: number): Promise<void>;
}

// Only the arrival of a request is bounded; a response may stream for as long as it likes.
const limits = { headersTimeout: 15_000, requestTimeout: 60_000, keepAliveTimeout: 65_000, maxHeaderSize: 16 * 1024 };

const answerGraceMs = 1000;

/**
 * Starts listening.
 * @throws {GantryError} `config_invalid` when the address is not loopback and no token is asked for, or cannot be bound;
 * `port_in_use`.
 */
export const createHttpServer = async (options: HttpServerOptions): Promise<HttpServer> => {
  const { host, port, face, clock, log } = options;
  if (!isLoopback(host) && !options.authenticate)
    throw new GantryError(
      'config_invalid',
      `Listening on ${host} lets others in, so a token is needed: set GANTRY_TOKEN, or listen on 127.0.0.1.`,
      { details: { path: 'serve.host' } },
    );
  const serve = createFetch(options);
  const server = createAdaptorServer({
    fetch: (request, { incoming, outgoing }) => serve(request, { incoming, outgoing: outgoing as ServerResponse }),
    serverOptions: limits,
  }) as Server;
  const requests = countRequests(server);
  await listen(server, host, port);
  // A listener that fails later (out of file descriptors, say) goes on with what it has.
  server.on('error', (error) => log.error({ err: error }, 'the HTTP listener reported an error'));
  const bound = (server.address() as AddressInfo).port;

  const endedWithin = async (limitMs: number): Promise<void> => {
    using limit = stopWaiting();
    await Promise.race([requests.ended(), delay(clock, limitMs, limit.signal)]);
  };

  const finish = async (graceMs: number): Promise<void> => {
    const closed = once(server, 'close');
    server.close();
    face.endStreams();
    await endedWithin(graceMs);
    options.abortCalls?.();
    if (options.abortCalls) await endedWithin(answerGraceMs);
    server.closeAllConnections();
    await closed;
  };

  let stopped: Promise<void> | undefined;
  const stop = (graceMs: number): Promise<void> => (stopped ??= finish(graceMs));
  return { url: `http://${inUrl(host)}:${bound}`, port: bound, stop, [Symbol.asyncDispose]: () => stop(0) };
};

/**
 * Makes sure that the address can be listened on, so that nothing is started for a gateway that cannot be reached.
 * @throws {GantryError} `port_in_use`; `config_invalid`.
 */
export const checkAddress = async (host: string, port: number): Promise<void> => {
  const probe = createServer();
  await listen(probe, host, port);
  probe.close();
  await once(probe, 'close');
};

const listen = async (server: NetServer, host: string, port: number): Promise<void> => {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    throw toListenError(error, host, port);
  }
};

const toListenError = (error: unknown, host: string, port: number): GantryError => {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE')
    return new GantryError(
      'port_in_use',
      `Port ${port} on ${host} is in use by another program; stop it or choose another with --port.`,
      { details: { host, port }, cause: error },
    );
  return new GantryError('config_invalid', `Cannot listen on ${host} port ${port}: ${messageOf(error)}.`, {
    details: { path: 'serve.host' },
    cause: error,
  });
};

/** Knows when no request is being answered. */
const countRequests = (server: Server): { ended(): Promise<void> } => {
  let running = 0;
  let waiting: PromiseWithResolvers<void> | undefined;
  server.on('request', (_request: IncomingMessage, response: ServerResponse) => {
    running += 1;
    response.once('close', () => {
      running -= 1;
      if (running === 0) waiting?.resolve();
    });
  });
  return {
    ended: async () => {
      if (running === 0) return;
      waiting ??= Promise.withResolvers();
      await waiting.promise;
    },
  };
};

const stopWaiting = (): { readonly signal: AbortSignal } & Disposable => {
  const controller = new AbortController();
  return { signal: controller.signal, [Symbol.dispose]: () => controller.abort() };
};
