import type { Bus, MessageHandler, Subscription } from '../../bus/bus.ts';
import { topics } from '../../bus/topics.ts';
import type { Clock, Timer } from '../../kernel/clock.ts';
import { GantryError, messageOf } from '../../kernel/errors.ts';
import { isObject } from '../../kernel/json.ts';
import type { Log } from '../../kernel/log.ts';
import type { Volume } from '../../volume/volume.ts';
import type { ServerStatus } from '../wire/server-state.ts';
import type { McpBridgeSettings } from './bridge-options.ts';
import { toBridgeSettings } from './bridge-options.ts';
import { createToolCaller } from './call/call-tool.ts';
import { unknownServer } from './call/server-directory.ts';
import type { LoadedConfig, McpConfigFile } from './config/config-file.ts';
import { createHttpPool } from './connection/http-pool.ts';
import { createIndexPublisher } from './index-publisher.ts';
import { serveInvoke } from './invoke-handler.ts';
import { serveManage } from './manage-handler.ts';
import { createResultMapper } from './result/result-mapper.ts';
import type { ManagedServer } from './server/managed-server.ts';
import { createServerSet } from './server/server-set.ts';

/** The owner of all connections to servers. Disposing gives running calls their time, then ends everything, programs included. */
export interface McpBridge extends AsyncDisposable {
  /** Serves the bus, reads the file of servers and begins to connect all of them at once. Resolves before they are connected. */
  start(): Promise<void>;
  /** Resolves when the first attempt to connect each server has ended, well or not. */
  ready(): Promise<void>;
  /**
   * Reads the file of servers again and applies what changed: servers whose entry is as it was are left alone.
   * A broken file changes nothing; see {@link McpBridge.configError}.
   */
  reload(): Promise<void>;
  /** What is wrong with the file of servers, with line and column; `undefined` when it could be read. */
  configError(): string | undefined;
  /** All configured servers, by name. */
  servers(): readonly ServerStatus[];
  /** One server, its name in any case. */
  server(name: string): ServerStatus | undefined;
  /**
   * Connects one server anew, or every one that is connected, and announces it again.
   * @throws {GantryError} `server_unknown`; for a named server also why it could not be connected.
   */
  refresh(name?: string): Promise<void>;
  /** Calls the listener whenever `servers()` may give something else. Returns the way to stop. */
  onChange(listener: () => void): () => void;
}

/** What a bridge is made of. */
export interface McpBridgeOptions {
  /** The agent whose servers these are; names the topics. */
  readonly agent: string;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly log: Log;
  readonly config: McpConfigFile;
  readonly volume: Volume;
  readonly settings?: McpBridgeSettings | undefined;
  /** The host's environment: for `${NAME}` in headers, and a few variables for launched programs. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Makes the bridge of an agent. */
export const createMcpBridge = (options: McpBridgeOptions): McpBridge => {
  const { agent, bus, clock, log, config } = options;
  const settings = toBridgeSettings(options.settings ?? {});
  const pool = createHttpPool({ maxResponseBytes: settings.maxResponseBytes });
  const listeners = new Set<() => void>();
  const publisher = createIndexPublisher({ bus, agent, log });
  const servers = createServerSet({
    clock,
    log,
    settings,
    pool,
    env: options.env,
    publisher,
    onStatus: () => {
      for (const listener of listeners) listener();
    },
  });
  const served: AsyncDisposable[] = [];
  const started = Promise.withResolvers<void>();
  let configError: string | undefined;
  let readyAtMs: number | undefined;
  let sweeping: Timer | undefined;
  let loading: Promise<void> = Promise.resolve();
  let isStopping = false;

  const load = async (): Promise<void> => {
    if (isStopping) return;
    let loaded: LoadedConfig;
    try {
      loaded = await config.load();
    } catch (error) {
      configError = messageOf(error);
      log.error({ file: config.path, reason: configError }, `${configError} The servers stay as they are.`);
      return;
    }
    configError = undefined;
    await servers.apply(loaded);
  };

  const reload = (): Promise<void> => (loading = loading.then(load));

  const refresh = async (name?: string): Promise<void> => {
    if (name === undefined) {
      const connected = servers.all().filter((server) => server.snapshot !== undefined);
      await Promise.all(connected.map(refreshGuarded));
      return;
    }
    const server = servers.directory.get(name.toLowerCase());
    if (!server)
      throw new GantryError('server_unknown', unknownServer(servers.directory, name), {
        details: { name, known: servers.all().map((known) => known.name) },
      });
    await server.reconnect();
  };

  const refreshGuarded = (server: ManagedServer): Promise<void> =>
    server.reconnect().catch((error: unknown) => {
      log.warn({ server: server.name, reason: messageOf(error) }, 'a server could not be refreshed');
    });

  const onRefresh: MessageHandler = async (envelope) => {
    // A request from before the servers were first announced asks for what has happened since.
    if (readyAtMs === undefined || envelope.timestampMs < readyAtMs) return 'ack';
    const name = isObject(envelope.body) ? envelope.body['serverName'] : undefined;
    await refresh(typeof name === 'string' && name !== '' ? name : undefined).catch((error: unknown) => {
      log.warn({ reason: messageOf(error) }, 'a request to refresh servers failed');
    });
    return 'ack';
  };

  const armSweep = (): void => {
    if (isStopping || settings.reconnectSweepIntervalSeconds <= 0) return;
    sweeping = clock.startTimer(settings.reconnectSweepIntervalSeconds * 1000, () => {
      // What a sweep cannot do is in the server's status and in the log.
      void Promise.allSettled(servers.all().map((server) => server.sweep())).then(armSweep);
    });
  };

  const serve = async (): Promise<void> => {
    const callTool = createToolCaller({
      servers: servers.directory,
      settings,
      mapResult: createResultMapper({ volume: options.volume, log }),
      clock,
      log,
    });
    const patience = (): Promise<void> =>
      new Promise((resolve) => void clock.startTimer(settings.drainTimeoutMs, resolve));
    served.push(await serveInvoke({ bus, agent, log, callTool, patience }));
    served.push(await serveManage({ bus, agent, log, servers: servers.directory }));
    const refreshes: Subscription = await bus.subscribe(topics.mcpMetaRefresh, `${agent}.mcp-refresh`, onRefresh);
    served.push(refreshes);
  };

  return {
    start: async () => {
      await serve();
      await reload();
      config.watchEdits(() => void reload());
      armSweep();
      void servers.settled().then(() => {
        readyAtMs = clock.nowMs();
        started.resolve();
      });
    },
    ready: () => started.promise,
    reload,
    configError: () => configError,
    servers: () => servers.statuses(),
    server: (name) => servers.statuses().find((status) => status.name.toLowerCase() === name.toLowerCase()),
    refresh,
    onChange: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    [Symbol.asyncDispose]: async () => {
      if (isStopping) return;
      isStopping = true;
      sweeping?.stop();
      started.resolve();
      await config[Symbol.asyncDispose]();
      await Promise.all(served.map((service) => service[Symbol.asyncDispose]()));
      await loading;
      await servers[Symbol.asyncDispose]();
      await pool[Symbol.asyncDispose]();
    },
  };
};
