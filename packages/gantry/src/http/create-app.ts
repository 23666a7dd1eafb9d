import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { cors } from 'hono/cors';
import { messageOf } from '../kernel/errors.ts';
import type { McpFace } from '../mcp/face/mcp-face.ts';
import type { AccessCheck, AccessCheckOptions } from './access-check.ts';
import { homePage } from './home-page.ts';
import { resourceMetadata, resourceMetadataPath } from './oauth-resource.ts';
import { refusal, unexpected } from './refusal.ts';

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
export interface AppOptions extends AccessCheckOptions {
  readonly version: string;
  /** Tells this run of the gateway from the next; `/healthz` says it, so that its data folder's owner can be recognised. */
  readonly instance?: string | undefined;
  readonly face: Pick<McpFace, 'handleHttp' | 'handlePass'>;
  readonly mountApi?: ApiRoutes | undefined;
  /** The text of `/metrics`, in Prometheus format; absent, the route is not there. */
  readonly metrics?: (() => string | Promise<string>) | undefined;
  /** Why the gateway is not ready, empty when it is. */
  readonly notReady: () => readonly string[] | Promise<readonly string[]>;
}

const maxBodyBytes = 4 * 1024 * 1024;

// Asked for no token.
const open = new Set(['/', '/healthz', '/readyz']);
const isOpen = (path: string): boolean => open.has(path) || path.startsWith(resourceMetadataPath);

/** Makes the routes of the gateway. */
export const createApp = (options: AppOptions, access: AccessCheck): App => {
  const { version, instance, face, log, oauth, mountApi, metrics, notReady, allowedOrigins = [] } = options;
  const app: App = new Hono();

  app.onError((error, c) => unexpected(error, c.req.path, log));
  app.notFound((c) => refusal(404, 'not_found', `There is nothing at ${c.req.path.slice(0, 200)}.`));

  app.use(async (c, next) => access.refuseAddress(c.req.raw) ?? next());
  if (allowedOrigins.length > 0)
    app.use(
      cors({
        origin: [...allowedOrigins],
        exposeHeaders: ['mcp-session-id', 'mcp-protocol-version', 'www-authenticate'],
        maxAge: 600,
      }),
    );
  app.use(async (c, next) => {
    if (isOpen(c.req.path)) return next();
    const admitted = await access.admit(c.req.raw, c.req.path);
    if ('refusal' in admitted) return admitted.refusal;
    c.set('client', admitted.client);
    await next();
    const held = admitted.hold(c.res);
    if (held !== c.res) c.res = held;
    return undefined;
  });

  if (oauth) {
    // RFC 9728 section 3.1: the path of the resource stands behind the well-known one.
    app.get(`${resourceMetadataPath}/*`, (c) =>
      c.json(resourceMetadata(oauth, access.originOf(c.req.raw) + c.req.path.slice(resourceMetadataPath.length))),
    );
    app.get(resourceMetadataPath, (c) => c.json(resourceMetadata(oauth, `${access.originOf(c.req.raw)}/mcp`)));
  }
  app.all('/mcp', (c) => face.handleHttp(c.req.raw, { client: c.get('client') }));
  app.all('/mcp/:server', (c) => face.handlePass(c.req.raw, c.req.param('server'), { client: c.get('client') }));
  app.get('/healthz', (c) => c.json({ status: 'ok', instance }));
  app.get('/readyz', async (c) => {
    const reasons = await reasonsOf(notReady);
    return reasons.length === 0 ? c.json({ status: 'ready' }) : c.json({ status: 'not ready', reasons }, 503);
  });
  if (metrics) app.get('/metrics', async (c) => c.text(await metrics()));
  app.get('/', (c) => c.html(homePage(access.originOf(c.req.raw), version)));
  app.use(
    '/api/*',
    bodyLimit({
      maxSize: maxBodyBytes,
      onError: () => refusal(413, 'too_large', `The request body is larger than ${maxBodyBytes} bytes.`),
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
