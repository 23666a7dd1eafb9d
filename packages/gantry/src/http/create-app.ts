import type { Context } from 'hono';
import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { cors } from 'hono/cors';
import { messageOf } from '../kernel/errors.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';
import type { McpFace } from '../mcp/face/mcp-face.ts';
import type { Authenticate, Identity } from './authenticate.ts';
import { bearerToken, mayDo, scopeFor } from './authenticate.ts';
import type { OAuthResourceSettings } from './oauth-resource.ts';
import { resourceMetadata, resourceMetadataPath } from './oauth-resource.ts';
import { createStandingStreams } from './standing-streams.ts';
import { homePage } from './home-page.ts';
import type { AddressPolicy } from './trusted-address.ts';
import { createAddressCheck } from './trusted-address.ts';

/** What is known of a request once it has been let in. */
export interface AppVariables {
  /** Identity that the token stands for; absent where no token is asked for. */
  readonly client?: string | undefined;
}

/** The application, as those who mount routes on it see it. */
export type App = Hono<{ Variables: AppVariables }>;

/** Adds the routes of `/api/v1` to the application. Host, Origin, token and body size have been checked before them. */
export type ApiRoutes = (app: App) => void;

/** What the application serves. */
export interface AppOptions extends AddressPolicy {
  readonly version: string;
  /** Tells this run of the gateway from the next; `/healthz` says it, so that its data folder's owner can be recognised. */
  readonly instance?: string | undefined;
  readonly face: Pick<McpFace, 'handleHttp' | 'handlePass'>;
  readonly log: Log;
  readonly clock: Clock;
  /** Asks every request for a bearer token, except `/`, `/healthz` and `/readyz`; absent, none is asked for. */
  readonly authenticate?: Authenticate | undefined;
  /** Where clients reach the gateway, where that is not the address that requests name: behind a proxy that ends TLS. */
  readonly publicUrl?: string | undefined;
  /** The authorization server whose tokens are taken; clients are told of it. */
  readonly oauth?: Pick<OAuthResourceSettings, 'issuer'> | undefined;
  readonly mountApi?: ApiRoutes | undefined;
  /** The text of `/metrics`, in Prometheus format; absent, the route is not there. */
  readonly metrics?: (() => string | Promise<string>) | undefined;
  /** Why the gateway is not ready, empty when it is. */
  readonly notReady: () => readonly string[] | Promise<readonly string[]>;
}

const maxBodyBytes = 4 * 1024 * 1024;
const open = new Set(['/', '/healthz', '/readyz']);

/** Makes the routes of the gateway. */
export const createApp = (options: AppOptions): App => {
  const {
    version,
    instance,
    face,
    log,
    clock,
    authenticate,
    oauth,
    mountApi,
    metrics,
    notReady,
    allowedOrigins = [],
  } = options;
  const app: App = new Hono();
  const addresses = createAddressCheck(options);
  const standing = createStandingStreams(clock);
  // What a proxy says of the way to it is not believed: anyone could say it.
  const publicOrigin = options.publicUrl === undefined ? undefined : new URL(options.publicUrl).origin;
  const originOf = (c: Context): string => publicOrigin ?? new URL(c.req.url).origin;
  /** RFC 6750 section 3, and RFC 9728 section 5.1. */
  const challenge = (c: Context, error: string | undefined, scope: string): string => {
    const origin = originOf(c);
    const { pathname } = new URL(c.req.url);
    const parts = [
      ...(error === undefined ? [] : [`error="${error}"`]),
      ...(oauth ? [`resource_metadata="${origin}${resourceMetadataPath}${pathname}"`, `scope="${scope}"`] : []),
    ];
    return parts.length === 0 ? 'Bearer' : `Bearer ${parts.join(', ')}`;
  };

  app.onError((error, c) => {
    log.error({ err: error, path: c.req.path }, 'a request failed unexpectedly');
    return refuse(c, 500, 'internal', 'The request failed unexpectedly; the log of the gateway says why.');
  });
  app.notFound((c) => refuse(c, 404, 'not_found', `There is nothing at ${c.req.path.slice(0, 200)}.`));

  app.use(async (c, next) => {
    const refusal = addresses.refusal(c.req.header('host'), c.req.header('origin'));
    return refusal === undefined ? next() : refuse(c, 403, 'address_refused', refusal);
  });
  if (allowedOrigins.length > 0)
    app.use(
      cors({
        origin: [...allowedOrigins],
        exposeHeaders: ['mcp-session-id', 'mcp-protocol-version', 'www-authenticate'],
        maxAge: 600,
      }),
    );
  if (authenticate)
    app.use(async (c, next) => {
      if (open.has(c.req.path) || c.req.path.startsWith(resourceMetadataPath)) return next();
      const token = bearerToken(c.req.header('authorization'));
      let identity: Identity | undefined;
      try {
        identity = token === undefined ? undefined : await authenticate(token);
      } catch (error) {
        log.warn({ reason: messageOf(error) }, 'a token could not be checked');
        return refuse(c, 503, 'auth_unavailable', 'Tokens cannot be checked now; try again in a while.', true);
      }
      const needed = scopeFor(c.req.method, c.req.path);
      if (identity === undefined) {
        c.header('www-authenticate', challenge(c, token === undefined ? undefined : 'invalid_token', needed));
        return refuse(c, 401, 'auth_required', 'Send a token of this gateway: "Authorization: Bearer …".');
      }
      if (!mayDo(identity, needed)) {
        c.header('www-authenticate', challenge(c, 'insufficient_scope', needed));
        return refuse(
          c,
          403,
          'scope_missing',
          `This needs a token with the scope ${needed === 'admin' ? '' : `"${needed}" or `}"admin".`,
        );
      }
      c.set('client', identity.client);
      await next();
      const isGood = async (): Promise<boolean> => {
        const now = token === undefined ? undefined : await authenticate(token);
        return now !== undefined && mayDo(now, needed);
      };
      const held = standing.hold(c.res, `${needed} ${token}`, isGood);
      if (held !== c.res) c.res = held;
      return undefined;
    });

  if (oauth) {
    // RFC 9728 section 3.1: the path of the resource stands behind the well-known one.
    app.get(`${resourceMetadataPath}/*`, (c) =>
      c.json(resourceMetadata(oauth, originOf(c) + c.req.path.slice(resourceMetadataPath.length))),
    );
    app.get(resourceMetadataPath, (c) => c.json(resourceMetadata(oauth, `${originOf(c)}/mcp`)));
  }
  app.all('/mcp', (c) => face.handleHttp(c.req.raw, { client: c.get('client') }));
  app.all('/mcp/:server', (c) => face.handlePass(c.req.raw, c.req.param('server'), { client: c.get('client') }));
  app.get('/healthz', (c) => c.json({ status: 'ok', instance }));
  app.get('/readyz', async (c) => {
    const reasons = await reasonsOf(notReady);
    return reasons.length === 0 ? c.json({ status: 'ready' }) : c.json({ status: 'not ready', reasons }, 503);
  });
  if (metrics) app.get('/metrics', async (c) => c.text(await metrics()));
  app.get('/', (c) => c.html(homePage(originOf(c), version)));
  app.use(
    '/api/*',
    bodyLimit({
      maxSize: maxBodyBytes,
      onError: (c) => refuse(c, 413, 'too_large', `The request body is larger than ${maxBodyBytes} bytes.`),
    }),
  );
  mountApi?.(app);
  return app;
};

const reasonsOf = async (notReady: AppOptions['notReady']): Promise<readonly string[]> => {
  try {
    return await notReady();
  } catch (error) {
    return [messageOf(error)];
  }
};

const refuse = (
  c: Context,
  status: 401 | 403 | 404 | 413 | 500 | 503,
  code: string,
  message: string,
  isRetryable = false,
): Response => c.json({ error: { code, message, isRetryable } }, status);
