import { checkAddress, createHttpServer } from '../http/create-http-server.ts';
import type { Authenticate } from '../http/authenticate.ts';
import { firstOf, oneToken } from '../http/authenticate.ts';
import { jwtTokens } from '../http/oauth-resource.ts';
import { isLoopback } from '../http/trusted-address.ts';
import { GantryError } from '../kernel/errors.ts';
import type { Log } from '../kernel/log.ts';
import { allOperations } from '../operations/all-operations.ts';
import { mountOperations } from '../operations/http/http-routes.ts';
import { ownTokenName } from '../operations/access/token-shelf.ts';
import { createOwnListeners } from '../net/address/own-listeners.ts';
import { assemble } from './assemble.ts';
import type { GantryConfig } from './config/config-schema.ts';
import { lockDataDir, prepareDataDir } from './gateway-lock.ts';
import { createLateMeter } from './late-meter.ts';
import { pathsOf } from './paths.ts';
import type { PrometheusMetrics } from './prometheus.ts';
import { startPrometheus } from './prometheus.ts';
import { version } from './version.ts';

/**
 * A gateway that listens. Disposing stops it: no new requests, running calls get up to 5 s and are aborted then, every
 * caller is answered, servers are closed.
 */
export interface RunningGateway extends AsyncDisposable {
  /** Address of its HTTP server, without a slash at the end. */
  readonly url: string;
  /** Absolute path of the file of servers. */
  readonly mcpFile: string;
}

const graceMs = 5000;
// Connecting loads libraries for a quarter of a second, in which nobody is answered: whoever waits for the gateway is told first that it
// is ready.
const connectDelayMs = 15;
// Clients of a gateway stay and are told of changes, so a server that hangs holds them up no longer than one that is quick takes.
const firstToolsPatienceMs = 250 + connectDelayMs;

/**
 * Runs the gateway in this process. Resolves when it listens and its store is open; servers connect behind it.
 * @throws {GantryError} `data_dir_unwritable`, `data_dir_locked`, `port_in_use`, `config_invalid`.
 */
export const serveGateway = async (
  config: GantryConfig,
  options: {
    readonly log: Log;
    readonly cwd?: string | undefined;
    readonly env?: Readonly<Record<string, string | undefined>> | undefined;
    readonly configFile?: string | undefined;
  },
): Promise<RunningGateway> => {
  const { log, cwd = process.cwd(), env = process.env, configFile } = options;
  const { dataDir, mcpFile } = pathsOf(config, cwd, env);
  await prepareDataDir(dataDir);
  const stack = new AsyncDisposableStack();
  try {
    const lock = stack.use(await lockDataDir(dataDir));
    const { host, port, token, allowedHosts, allowedOrigins } = config.serve;
    await checkAddress(host, port);
    const meter = createLateMeter();
    const ownListeners = createOwnListeners();
    const { isOwnListener } = ownListeners;
    // Launching programs and loading the SDK would take the time in which the gateway could already answer.
    const listening = Promise.withResolvers<void>();
    const connectAfter = listening.promise;
    const assembled = stack.use(
      await assemble(config, {
        log,
        cwd,
        env,
        meter,
        runsTasks: true,
        isOwnListener,
        connectAfter,
        configFile,
        firstToolsPatienceMs,
      }),
    );
    const ending = new AbortController();
    let metrics: Promise<PrometheusMetrics> | undefined;
    // The metrics SDK takes as much time and memory as the rest of the start together, so only a gateway that is scraped has it.
    const startMetrics = async (): Promise<PrometheusMetrics> => {
      const started = await startPrometheus(version);
      stack.use(started);
      meter.bind(started.meter);
      return started;
    };
    const { tokens } = assembled;
    const { clock } = assembled.gantry;
    const ways: Authenticate[] = [
      ...(token === undefined ? [] : [oneToken(token, ownTokenName)]),
      async (given) => {
        const stored = await tokens.find(given);
        return stored && { client: clientOf(stored.name), scopes: new Set(stored.scopes) };
      },
      ...(config.serve.oauth ? [jwtTokens(config.serve.oauth, log)] : []),
    ];
    // Whoever reaches a loopback address could read the data folder too.
    const needsToken =
      config.serve.requireToken || token !== undefined || config.serve.oauth !== undefined || !isLoopback(host);
    if (needsToken && token === undefined && !config.serve.oauth && (await tokens.list()).length === 0)
      throw new GantryError(
        'config_invalid',
        `Listening on ${host} asks for tokens, and there are none: set GANTRY_TOKEN, or make one with "gantry tokens create NAME".`,
        { details: { path: 'serve.host' } },
      );
    const http = await createHttpServer({
      host,
      port,
      allowedHosts,
      allowedOrigins,
      version,
      instance: lock.instance,
      face: assembled.face,
      clock,
      abortCalls: () => {
        assembled.gantry.abortCalls();
        assembled.face.endCalls();
      },
      log,
      authenticate: needsToken ? firstOf(...ways) : undefined,
      oauth: config.serve.oauth,
      publicUrl: config.serve.publicUrl,
      mountApi: (app) => mountOperations(app, allOperations, { ...assembled.deps, ending: ending.signal }),
      metrics: async () => (await (metrics ??= startMetrics())).read(),
      notReady: async () => {
        // What is asked for says why it could not be read.
        await assembled.gantry.store.documents('store').list({ limit: 1 });
        return [];
      },
    });
    stack.defer(() => {
      // Streams that have no end of their own would be waited for.
      ending.abort();
      return http.stop(graceMs);
    });
    ownListeners.add(Number(new URL(http.url).port));
    await lock.announce(http.url);
    clock.startTimer(connectDelayMs, listening.resolve);
    return {
      url: http.url,
      mcpFile,
      [Symbol.asyncDispose]: () => stack.disposeAsync(),
    };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
};

/** One that was made before the name was taken is a client of its own; names of tokens have no colon. */
const clientOf = (name: string): string => (name.toLowerCase() === ownTokenName ? `stored:${name}` : name);
