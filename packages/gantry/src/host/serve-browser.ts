import { once } from 'node:events';
import type { Server } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import type { Context } from 'hono';
import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import * as z from 'zod';
import { bearerToken, oneToken } from '../http/authenticate.ts';
import { createAddressCheck, inUrl, isLoopback } from '../http/trusted-address.ts';
import { systemClock } from '../kernel/clock.ts';
import type { GantryErrorCode } from '../kernel/errors.ts';
import { GantryError, messageOf } from '../kernel/errors.ts';
import type { Log } from '../kernel/log.ts';
import { createOwnListeners } from '../net/address/own-listeners.ts';
import { readNetPolicy } from '../net/address/policy.ts';
import type { Renderer } from '../web/render/renderer.ts';
import { createLocalRenderer } from '../web/render/rendering.ts';
import type { GantryConfig, ServeConfig } from './config/config-schema.ts';
import { listenOn } from './listen.ts';

/** A render service that listens. Disposing ends it and its browser. */
export interface RunningBrowser extends AsyncDisposable {
  /** Address of its HTTP server, without a slash at the end. */
  readonly url: string;
}

const limits = { headersTimeout: 15_000, requestTimeout: 60_000, maxHeaderSize: 16 * 1024 };
const maxBodyBytes = 64 * 1024;

/**
 * Runs the render service: `POST /render {url, timeoutMs}` and `GET /health`. Its browser is started with the first page.
 *
 * @throws {GantryError} `config_invalid` without Chromium or playwright-core, or when it would listen beyond loopback without a token; `port_in_use`.
 */
export const serveBrowser = async (
  config: GantryConfig,
  options: {
    readonly log: Log;
    /** 0 takes any free port. */
    readonly port: number;
    readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  },
): Promise<RunningBrowser> => {
  const { log, port, env = process.env } = options;
  const { host, token } = config.serve;
  if (!isLoopback(host) && token === undefined)
    throw new GantryError(
      'config_invalid',
      `Listening on ${host} lets others in, so a token is needed: set GANTRY_TOKEN, or listen on 127.0.0.1.`,
      { details: { path: 'serve.host' } },
    );
  const ownListeners = createOwnListeners();
  const renderer = createLocalRenderer(config.web, {
    policy: readNetPolicy(env),
    isOwnListener: ownListeners.isOwnListener,
    env,
    clock: systemClock,
    log,
  });
  if (!renderer)
    throw new GantryError(
      'config_invalid',
      'Rendering needs Chromium (the package "chromium" of most systems, or web.browserPath) and the npm package playwright-core; install what is missing.',
      { details: { path: 'web.browserPath' } },
    );
  const app = renderRoutes(renderer, config.serve, log);
  const server = createAdaptorServer({ fetch: app.fetch, serverOptions: limits }) as Server;
  const bound = await listenOn(server, host, port);
  server.on('error', (error) => log.error({ err: error }, 'the HTTP listener reported an error'));
  ownListeners.add(bound);
  return {
    url: `http://${inUrl(host)}:${bound}`,
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close');
      server.close();
      await renderer[Symbol.asyncDispose]();
      server.closeAllConnections();
      await closed;
    },
  };
};

const requestSchema = z.strictObject({ url: z.string().max(8192), timeoutMs: z.int().positive().optional() });

const renderRoutes = (renderer: Renderer, { token, ...address }: ServeConfig, log: Log): Hono => {
  const app = new Hono();
  const addresses = createAddressCheck(address);
  const authenticate = token === undefined ? undefined : oneToken(token, 'token');
  app.use(async (c, next) => {
    const refusal = addresses.refusal(c.req.header('host'), c.req.header('origin'));
    return refusal === undefined ? next() : refuse(c, 403, 'address_refused', refusal);
  });
  app.get('/health', (c) => c.json({ status: 'ok', ...renderer.health() }));
  if (authenticate)
    app.use(async (c, next) => {
      const given = bearerToken(c.req.header('authorization'));
      if (given !== undefined && (await authenticate(given)) !== undefined) return next();
      c.header('www-authenticate', 'Bearer');
      return refuse(c, 401, 'auth_required', 'Send the token of this service: "Authorization: Bearer …".');
    });
  app.post('/render', bodyLimit({ maxSize: maxBodyBytes }), async (c) => {
    let asked: z.infer<typeof requestSchema>;
    try {
      asked = requestSchema.parse(await c.req.json());
    } catch (error) {
      log.debug({ reason: messageOf(error) }, 'a request to render made no sense');
      return refuse(c, 400, 'invalid_arguments', 'Send {"url": "https://…", "timeoutMs": 30000} as JSON.');
    }
    try {
      return c.json(await renderer.render(asked.url, { timeoutMs: asked.timeoutMs, signal: c.req.raw.signal }));
    } catch (error) {
      if (!GantryError.is(error)) throw error;
      log.info({ url: asked.url, code: error.code, reason: error.message }, 'a page was not rendered');
      return refuse(c, statuses[error.code] ?? 502, error.code, error.message);
    }
  });
  app.onError((error, c) => {
    log.error({ err: error, path: c.req.path }, 'a request failed unexpectedly');
    return refuse(c, 500, 'internal', 'The request failed unexpectedly; the log of the render service says why.');
  });
  app.notFound((c) => refuse(c, 404, 'not_found', 'There are POST /render and GET /health.'));
  return app;
};

type RefusalStatus = 400 | 401 | 403 | 404 | 429 | 500 | 502 | 503 | 504;

const statuses: Partial<Record<GantryErrorCode, RefusalStatus>> = {
  address_refused: 403,
  limit_reached: 429,
  stopped: 503,
  timeout: 504,
};

const refuse = (c: Context, status: RefusalStatus, code: string, message: string): Response =>
  c.json({ error: { code, message } }, status);
