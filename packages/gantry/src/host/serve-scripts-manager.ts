import { once } from 'node:events';
import type { Server } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';
import { createAddressCheck, inUrl } from '../http/trusted-address.ts';
import { systemClock } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';
import { withKubernetesDefaults } from '../scripts/kubernetes/kubernetes-defaults.ts';
import { openScriptsManager } from '../scripts/kubernetes/open-scripts-manager.ts';
import type { GantryConfig, ServeConfig } from './config/config-schema.ts';
import { listenOn } from './listen.ts';
import { openSharedBus } from './open-bus.ts';

/** A scripts manager that serves the bus. Disposing ends the scripts that run, tells their callers, and leaves the broker. */
export interface RunningScriptsManager extends AsyncDisposable {
  /** Address of `/healthz` and `/readyz`, without a slash at the end. */
  readonly url: string;
  /** Address of the broker, without user and password. */
  readonly broker: string;
}

/**
 * Runs the role that has the credentials of the cluster, and nothing else: it takes scripts from the bus and runs them in pods. Over HTTP
 * it only says how it is, so it asks for no token.
 *
 * @throws {GantryError} `config_invalid` without a broker or a cluster; `package_missing`; `bus_unreachable`; `port_in_use`.
 */
export const serveScriptsManager = async (
  config: GantryConfig,
  options: {
    readonly log: Log;
    /** 0 takes any free port. */
    readonly port: number;
  },
): Promise<RunningScriptsManager> => {
  const { log, port } = options;
  const { agent, scripts, serve } = config;
  const clock = systemClock;
  await using opened = new AsyncDisposableStack();
  const bus = opened.use(await openSharedBus(config.bus, { agent, clock, log }));
  opened.use(
    await openScriptsManager({
      bus,
      agent,
      clock,
      log,
      settings: withKubernetesDefaults(scripts.kubernetes, agent),
      maxParallel: scripts.maxParallel,
      // What it cannot run yet stays where other managers can take it.
      concurrency: scripts.maxParallel,
      maxTimeoutMs: scripts.maxTimeoutSeconds * 1000,
    }),
  );
  const app = healthRoutes(serve, () => bus.isConnected);
  const server = createAdaptorServer({ fetch: app.fetch }) as Server;
  const bound = await listenOn(server, serve.host, port);
  server.on('error', (error) => log.error({ err: error }, 'the HTTP listener reported an error'));
  opened.defer(async () => {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  });
  const kept = opened.move();
  return {
    url: `http://${inUrl(serve.host)}:${bound}`,
    broker: bus.address,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
};

const healthRoutes = (address: ServeConfig, isConnected: () => boolean): Hono => {
  const app = new Hono();
  const addresses = createAddressCheck(address);
  app.use(async (c, next) => {
    const refusal = addresses.refusal(c.req.header('host'), c.req.header('origin'));
    return refusal === undefined ? next() : c.json({ error: { code: 'address_refused', message: refusal } }, 403);
  });
  // Starting anew does not bring a broker back, so being alive does not depend on it.
  app.get('/healthz', (c) => c.json({ status: 'ok', broker: isConnected() ? 'connected' : 'away' }));
  app.get('/readyz', (c) =>
    isConnected() ? c.json({ status: 'ready' }) : c.json({ status: 'not ready', waitingFor: ['broker'] }, 503),
  );
  app.notFound((c) => c.json({ error: { code: 'not_found', message: 'There are /healthz and /readyz.' } }, 404));
  return app;
};
