import type { FetchLike } from '@modelcontextprotocol/client';
import type { Bus, MessageHandler, Subscription } from '../../bus/bus.ts';
import { topics } from '../../bus/topics.ts';
import type { Clock, Timer } from '../../kernel/clock.ts';
import { GantryError, messageOf } from '../../kernel/errors.ts';
import { isObject } from '../../kernel/json.ts';
import type { Log } from '../../kernel/log.ts';
import type { IsOwnListener } from '../../net/address/own-listeners.ts';
import type { NetPolicy } from '../../net/address/policy.ts';
import { publicOnly } from '../../net/address/policy.ts';
import type { Store } from '../../store/store.ts';
import type { ModelPort } from '../../tool/model-port.ts';
import type { StashText } from '../../tool/ports.ts';
import type { FileVolume } from '../../volume/volume.ts';
import type { ServerState, ServerStatus } from '../wire/server-state.ts';
import { startCleanUp } from './attachments/clean-up.ts';
import type { AuthProfiles } from './auth/auth-profile.ts';
import { profileKeeper } from './auth/auth-profile.ts';
import { createCredentialStore } from './auth/credential-store.ts';
import type { SignInStep } from './auth/sign-ins.ts';
import { createSignIns } from './auth/sign-ins.ts';
import type { McpBridgeSettings } from './bridge-options.ts';
import { toBridgeSettings } from './bridge-options.ts';
import { createPeerAsker } from './call/ask-peer.ts';
import type { BridgeCalls } from './call/bridge-calls.ts';
import { createBridgeCalls } from './call/bridge-calls.ts';
import { createServerCatalog } from './catalog/server-catalog.ts';
import type { LoadedConfig, McpConfigFile } from './config/config-file.ts';
import { createAddressGuard } from './connection/address-guard.ts';
import { createHttpPool } from './connection/http-pool.ts';
import { createArgGuards } from './guards/create-arg-guards.ts';
import type { ElicitationResponder } from './elicitation/responder.ts';
import type { LastUserTurn, QuestionDesk } from './questions/question-desk.ts';
import type { OpenPass } from '../wire/pass-port.ts';
import { unknownServerText } from '../wire/unknown-server.ts';
import { createIndexPublisher } from './index-publisher.ts';
import { serveInvoke } from './invoke-handler.ts';
import type { OperatorEdits } from './edits/server-edits.ts';
import { createServerEdits } from './edits/server-edits.ts';
import { serveManage } from './manage/manage-handler.ts';
import { withSummaries } from './surface/with-summaries.ts';
import type { TaskDesk } from './tasks/task-desk.ts';
import type { ManagedServer } from './server/managed-server.ts';
import { createServerSet } from './server/server-set.ts';

/** The owner of all connections to servers. Disposing gives running calls their time, then ends everything, programs included. */
export interface McpBridge extends AsyncDisposable, OperatorEdits {
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
   * Connects one server anew, or every one that is connected or should be, and announces it again. Ends a quarantine.
   * @throws {GantryError} `server_unknown`; for a named server also why it could not be connected.
   */
  refresh(name?: string): Promise<void>;
  /**
   * Begins a sign-in that comes back to `redirectUrl`, an address of this machine.
   * @throws {GantryError} `server_unknown`, `invalid_arguments`, `auth_required`
   */
  startSignIn(name: string, redirectUrl: string): Promise<SignInStep>;
  /**
   * Finishes a sign-in with what came back and connects the server anew.
   * @throws {GantryError} `invalid_arguments`, `auth_required`
   */
  finishSignIn(answer: {
    readonly state: string;
    readonly code: string;
    readonly iss?: string | undefined;
  }): Promise<ServerStatus>;
  /** Reaches single servers for clients that are passed through. */
  readonly openPass: OpenPass;
  /** The questions of servers that wait for an answer. */
  readonly questions: Pick<QuestionDesk, 'list' | 'answer' | 'release'>;
  /** Calls that go on in the background. */
  readonly tasks: Pick<TaskDesk, 'list' | 'cancel'>;
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
  /** The file of servers; it is disposed with the bridge. */
  readonly config: McpConfigFile;
  readonly volume: FileVolume;
  readonly settings?: McpBridgeSettings | undefined;
  /** Where what servers offer, the tokens of sign-ins and open questions are kept. */
  readonly store: Pick<Store, 'documents' | 'secrets' | 'ledger' | 'keyValue' | 'leases'>;
  /** Which addresses a model may name for a server; default only the public internet. */
  readonly addresses?: { readonly policy: NetPolicy; readonly isOwnListener: IsOwnListener } | undefined;
  /** Keeps results that come late. */
  readonly stash?: StashText | undefined;
  /** Who answers questions of servers, by the name that policies use. Default nobody: only the operator's defaults answer. */
  readonly responders?: ReadonlyMap<string, ElicitationResponder> | undefined;
  /** Which of them answers where a policy names none. */
  readonly defaultResponder?: string | undefined;
  /** What the user of a session said last. Without it no decision is taken from an agent. */
  readonly lastUserTurn?: LastUserTurn | undefined;
  /** Sources of bearer tokens that entries name. */
  readonly authProfiles?: AuthProfiles | undefined;
  /** Writes the sentence on each server that callers are shown; default a list of the first tools. */
  readonly model?: ModelPort | undefined;
  /**
   * Looks after background tasks, and after the questions of servers that are gone: one long-lived process does, not a command that shares
   * its store. Default true.
   */
  readonly followsTasks?: boolean | undefined;
  /** What the bridge tells servers its version is. */
  readonly version: string;
  /** Servers are connected after that, so that connecting does not hold up what comes first; default at once. */
  readonly connectAfter?: Promise<unknown> | undefined;
  /** From 0 to 1; spreads the waits between attempts. Default chance. */
  readonly random?: (() => number) | undefined;
  /** The host's environment: for `${NAME}` in headers, and a few variables for launched programs. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Makes the bridge of an agent. */
export const createMcpBridge = (options: McpBridgeOptions): McpBridge => {
  const { agent, bus, clock, log, config, authProfiles = {}, followsTasks = true } = options;
  const settings = toBridgeSettings(options.settings ?? {});
  const addresses = options.addresses ?? { policy: publicOnly, isOwnListener: () => false };
  const guard = createAddressGuard(addresses, clock);
  const argGuards = createArgGuards(settings.argGuards);
  const pool = createHttpPool({ maxResponseBytes: settings.maxResponseBytes, guard });
  const credentials = createCredentialStore({ ...options.store, clock });
  const signIns = createSignIns({
    credentials,
    waiting: options.store.keyValue('mcp-sign-ins'),
    sealing: options.store.secrets,
    env: options.env,
    clock,
    log,
  });
  const listeners = new Set<() => void>();
  const publisher = withSummaries(createIndexPublisher({ bus, agent, log }), {
    model: settings.generateLlmSummaries ? options.model : undefined,
    documents: options.store.documents('mcp-summaries'),
    clock,
    log,
  });
  const servers = createServerSet({
    answersFor: (...of) => calls.answersFor(...of),
    clock,
    log,
    settings,
    pool,
    env: options.env,
    clientVersion: options.version,
    random: options.random ?? Math.random,
    connectAfter: options.connectAfter ?? Promise.resolve(),
    argGuards,
    isOwnListener: addresses.isOwnListener,
    catalog: createServerCatalog(options.store.documents('mcp-catalog'), log),
    authProfiles: new Set(Object.keys(authProfiles)),
    tokensFor: (name, entry, fetch) => {
      const profile = entry.auth && authProfiles[entry.auth.profile];
      return entry.auth && profile ? profileKeeper(entry.auth.profile, profile) : signIns.tokensFor(name, entry, fetch);
    },
    publisher,
    onForgotten: (id) => {
      credentials.delete(id).catch((error: unknown) => {
        log.warn(
          { serverId: id, reason: messageOf(error) },
          'the sign-in of a server that is gone could not be deleted',
        );
      });
    },
    onStatus: () => {
      for (const listener of listeners) listener();
    },
  });
  const calls: BridgeCalls = createBridgeCalls({ ...options, settings, servers: servers.directory, pool, argGuards });
  const served: AsyncDisposable[] = [];
  const started = Promise.withResolvers<void>();
  let configError: string | undefined;
  let readyAtMs: number | undefined;
  let sweeping: Timer | undefined;
  let loading: Promise<void> = Promise.resolve();
  let isStopping = false;
  let hasLoaded = false;

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
    if (isStopping) return;
    const entries = [...loaded.entries].map(([, entry]) => entry);
    // An entry that cannot be read may be one of those that seem to be gone; and what another program's file says, it knows best.
    const knowsAll = loaded.refused.size === 0 && !loaded.fromBackup && (followsTasks || hasLoaded);
    hasLoaded = true;
    // While the connections that ran them are still there.
    await calls.tasks.keepOnly(entries, { endsAbsent: knowsAll });
    await servers.apply(loaded);
    await calls.questions.keepOnly(entries, { endsAbsent: knowsAll });
  };

  const reload = (): Promise<void> => (loading = loading.then(load));

  const named = (name: string): ManagedServer => {
    const server = servers.directory.get(name.toLowerCase());
    if (server) return server;
    throw new GantryError('server_unknown', unknownServerText(name), {
      details: { name, known: servers.all().map((known) => known.name) },
    });
  };

  const fetchFor = ({ name, entry }: ManagedServer): FetchLike =>
    pool.fetchFor(name, { isGuarded: entry.origin === 'agent' });

  const edits = createServerEdits({ config, reload, named, guard });

  const refresh = async (name?: string): Promise<void> => {
    if (name !== undefined) return await named(name).reconnect();
    const meant = servers.all().filter((server) => server.snapshot || downStates.has(server.status().state));
    await Promise.all(meant.map(refreshGuarded));
  };

  const refreshConnected = async (): Promise<void> => {
    const connected = servers.all().filter((server) => server.snapshot !== undefined);
    await Promise.all(connected.map(refreshGuarded));
  };

  const refreshGuarded = (server: ManagedServer): Promise<void> =>
    server.reconnect().catch((error: unknown) => {
      log.warn(
        { server: server.name, reason: server.maskSecrets(messageOf(error)) },
        'a server could not be refreshed',
      );
    });

  const onRefresh: MessageHandler = async (envelope) => {
    // A request from before the servers were first announced asks for what has happened since.
    if (readyAtMs === undefined || envelope.timestampMs < readyAtMs) return 'ack';
    const name = isObject(envelope.body) ? envelope.body['serverName'] : undefined;
    const refreshed = typeof name === 'string' && name !== '' ? refresh(name) : refreshConnected();
    await refreshed.catch((error: unknown) => {
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
    const patience = (): Promise<void> =>
      new Promise((resolve) => void clock.startTimer(settings.drainTimeoutMs, resolve));
    const peers = createPeerAsker({ bus, agent, maxTimeoutMs: settings.maxTimeoutMs, clock, log });
    served.push(await serveInvoke({ bus, agent, log, callTool: calls.call, askPeer: peers.of, patience }), peers);
    const { volume } = options;
    const { resourceInlineTextLimit } = settings;
    served.push(
      await serveManage({
        bus,
        agent,
        clock,
        log,
        servers: servers.directory,
        volume,
        resourceInlineTextLimit,
        answerQuestion: calls.questions.answer,
        cancelTask: calls.tasks.cancel,
        ...edits.agent,
      }),
    );
    const refreshes: Subscription = await bus.subscribe(topics.mcpMetaRefresh, `${agent}.mcp-refresh`, onRefresh);
    served.push(refreshes);
    const { attachmentMaxAgeDays: maxAgeDays } = settings;
    if (maxAgeDays > 0) served.push(startCleanUp({ volume, maxAgeDays, clock, log }));
  };

  return {
    start: async () => {
      await serve();
      await reload();
      await calls.questions.start();
      if (followsTasks) calls.tasks.start();
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
    ...edits.operator,
    startSignIn: async (name, redirectUrl) => {
      const server = named(name);
      const step = await signIns.start(server, fetchFor(server), redirectUrl);
      if (step.authorizationUrl === null) await refreshGuarded(server);
      return step;
    },
    finishSignIn: async (answer) => {
      const found = await signIns.finish(answer, (id) => {
        const server = servers.all().find(({ entry }) => entry.id === id);
        return server && { server, fetch: fetchFor(server) };
      });
      const server = named(found);
      await refreshGuarded(server);
      return server.status();
    },
    openPass: calls.openPass,
    questions: calls.questions,
    tasks: calls.tasks,
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
      await calls[Symbol.asyncDispose]();
      // Ends attempts to connect too, which a reload may be waiting for.
      await servers[Symbol.asyncDispose]();
      await loading;
      await pool[Symbol.asyncDispose]();
    },
  };
};

/** Down, though nothing in the entry or on purpose keeps them so. */
const downStates: ReadonlySet<ServerState> = new Set(['unreachable', 'quarantined', 'needs_login']);
