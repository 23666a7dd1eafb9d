import { resolve } from 'node:path';
import { newId } from '../kernel/ids.ts';
import type { Log } from '../kernel/log.ts';
import type { McpFace } from '../mcp/face/mcp-face.ts';
import { createMcpFace } from '../mcp/face/mcp-face.ts';
import type { ServerStatus } from '../mcp/wire/server-state.ts';
import { createConversationResponder } from '../mcp/bridge/elicitation/conversation-responder.ts';
import { createLlmResponder } from '../mcp/bridge/elicitation/llm-responder.ts';
import { lazyEmbeddingModel } from '../agent/models/lazy-embedding-model.ts';
import { lazyModelPort } from '../agent/models/lazy-model-port.ts';
import { createTierModels } from '../agent/models/tier-models.ts';
import { systemClock } from '../kernel/clock.ts';
import { createAgentPorts } from './agent-ports.ts';
import { agent, agentKey } from './plugins/agent.ts';
import { checkBus } from '../operations/doctor/check-bus.ts';
import { checkStore } from '../operations/doctor/check-store.ts';
import { parseCryptoSecrets } from '../store/crypto-secrets.ts';
import { checkBrowser, checkConfiguration, checkModels } from '../operations/doctor/check-optional.ts';
import { diagnose } from '../operations/doctor/diagnose.ts';
import { checkServers } from '../operations/doctor/check-servers.ts';
import type { DoctorCheck, DoctorReport } from '../operations/doctor/doctor-report.ts';
import { toReport } from '../operations/doctor/doctor-report.ts';
import type { TokenShelf } from '../operations/access/token-shelf.ts';
import { createTokenShelf } from '../operations/access/token-shelf.ts';
import { createCallLimits } from './access/call-limits.ts';
import { createLocalRate } from './access/local-rate.ts';
import { createSharedRate } from './access/shared-rate.ts';
import { compileRules, knowsServers, withRules } from './access/client-rules.ts';
import type { OperationDeps } from '../operations/operation-deps.ts';
import { scrubValue } from '../text/scrub.ts';
import { files } from '../files/files.ts';
import { rest } from '../rest/rest.ts';
import { noModelText } from '../schedule/run-action.ts';
import { schedule, schedulerKey } from '../schedule/schedule.ts';
import { checkScripts } from '../scripts/choose-runner.ts';
import { scriptRunners, scripts } from '../scripts/scripts.ts';
import type { GantryConfig } from './config/config-schema.ts';
import type { Gantry } from './create-gantry.ts';
import { createGantry } from './create-gantry.ts';
import { exposureOf } from './exposure.ts';
import type { AskInstance } from './gateway-lock.ts';
import { findGateway } from './gateway-lock.ts';
import type { Instruments } from './late-meter.ts';
import type { IsOwnListener } from '../net/address/own-listeners.ts';
import { findChromium } from '../web/render/find-chromium.ts';
import { web } from '../web/web.ts';
import type { McpServers } from './plugins/mcp.ts';
import { mcp, mcpServers } from './plugins/mcp.ts';
import { version } from './version.ts';

/** A Gantry with everything that the gateway and the command line offer. */
export interface Assembled extends AsyncDisposable {
  readonly gantry: Gantry;
  readonly face: McpFace;
  readonly servers: McpServers;
  readonly deps: OperationDeps;
  readonly tokens: TokenShelf;
}

/** What an assembly depends on beside its configuration. */
export interface AssembleOptions {
  readonly log: Log;
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  readonly meter?: Instruments | undefined;
  /** See `McpFaceOptions`. */
  readonly firstToolsPatienceMs?: number | undefined;
  /** Runs scheduled tasks when they are due; only a gateway does. Default false. */
  readonly runsTasks?: boolean | undefined;
  /** The configuration file that was read, to be named by the doctor; default none. */
  readonly configFile?: string | undefined;
  /** Servers are connected after that; default at once. */
  readonly connectAfter?: Promise<unknown> | undefined;
  /** Where this process listens itself, which no tool may reach. Default: nowhere. */
  readonly isOwnListener?: IsOwnListener | undefined;
}

/**
 * Starts a Gantry from a configuration, with the families of the default install, its MCP face and what operations need. Servers
 * connect behind it.
 */
export const assemble = async (config: GantryConfig, options: AssembleOptions): Promise<Assembled> => {
  const {
    log,
    cwd = process.cwd(),
    env = process.env,
    meter,
    runsTasks = false,
    isOwnListener,
    connectAfter,
    configFile,
  } = options;
  const { configPath, stdio, ...settings } = config.mcp;
  const rules = compileRules(config.serve.clients);
  const models = createTierModels({ models: config.models, behaviors: config.modelBehaviors.models, env });
  const { callTimeoutMs, maxRetries } = config.models;
  const model = lazyModelPort({ models, clock: systemClock, callTimeoutMs, maxRetries });
  const agentPorts = createAgentPorts();
  const { isConfigured } = models;
  const gantry = await createGantry({
    config,
    log,
    cwd,
    env,
    meter,
    exposes: withRules(exposureOf(config.serve.expose), rules),
  })
    .use(
      agent({
        tierModels: models,
        model,
        models: config.models,
        loop: config.loop,
        servers: (host) => host.service(mcpServers),
        timeZone: (host) => host.service(schedulerKey).timeZone(),
        onReady: agentPorts.bind,
      }),
      mcp({
        // Without a model nobody answers but the operator's defaults.
        ...(isConfigured && {
          model,
          responders: new Map([
            ['llm', createLlmResponder({ model })],
            ['conversation', createConversationResponder({ model, recentTurns: agentPorts.recentTurns })],
          ]),
          defaultResponder: 'llm',
        }),
        embedding: lazyEmbeddingModel({ settings: config.models.embedding, env, maxRetries }),
        lastUserTurn: agentPorts.lastUserTurn,
        notify: agentPorts.notify,
        knows: knowsServers(rules),
        ...settings,
        stdio: stdio === 'launch' ? 'launch' : 'off',
        config: resolve(cwd, configPath),
        env,
        isOwnListener,
        connectAfter,
        followsTasks: runsTasks,
      }),
      web({ ...config.web, env, isOwnListener, meter }),
    )
    .use(
      schedule({ ...config.schedule, runsTasks, runTurn: isConfigured ? agentPorts.runTurn : undefined }),
      scripts(config.scripts),
      files(config.files),
    )
    .use(rest({ ...config.rest, env, isOwnListener }))
    .start();
  const servers = gantry.service(mcpServers) as McpServers;
  const { toolsets, invoker, tools: registry, guides, clock } = gantry;
  const { mode, clientModes } = config.serve;
  const face = createMcpFace({
    name: 'gantry',
    version,
    instructions:
      'Tools of several MCP servers are named {server}__{tool}. One that is not in your list is found with mcp_find_tools. Call list_tool_guides for how each family of tools is used.',
    toolsets,
    invoker,
    // What a server offered the last time is there at once; only one that nothing is known of is worth waiting for.
    firstReady: async () => {
      if (servers.servers().some(isUnknown)) await servers.ready();
    },
    firstToolsPatienceMs: options.firstToolsPatienceMs,
    sharedSessions: {
      sealing: gantry.store.secrets,
      ended: gantry.store.keyValue('mcp-sessions-ended'),
      letters: gantry.store.keyValue('mcp-session-answers'),
    },
    pass: {
      open: servers.openPass,
      sealing: gantry.store.secrets,
      mayReach: rules.allowsServer,
      mayCall: rules.allows,
      restricts: rules.restrictsTools,
      taskOwners: gantry.store.keyValue('mcp-task-owners'),
      taskResults: gantry.store.keyValue('mcp-task-results'),
    },
    modeFor: (client) =>
      rules.of(client).mode ??
      (client !== undefined && Object.hasOwn(clientModes, client) ? clientModes[client] : undefined) ??
      mode,
    sharesFolder: (client) => rules.of(client).sharesFolder === true,
    wantsWholeResults: (client) => rules.of(client).results === 'as-is',
    admit: createCallLimits({
      rules,
      // A data folder has one gateway; a database may have several.
      rate:
        config.store.url === undefined
          ? createLocalRate(clock)
          : createSharedRate({ windows: gantry.store.documents('call-rates'), clock, log }),
    }),
    clock,
    log,
  });
  const tokens = createTokenShelf(gantry.store.documents('access-tokens'), clock);
  const scheduler = gantry.service(schedulerKey);
  const deps: OperationDeps = {
    registry,
    toolsets,
    guides,
    invoker,
    firstTools: face.firstTools,
    servers: {
      list: servers.servers,
      details: servers.details,
      refresh: servers.refresh,
      configError: servers.configError,
    },
    findTools: servers.findTools,
    serverEdits: servers,
    questions: servers.questions,
    tasks: servers.tasks,
    tokens,
    history: gantry.history,
    memory: gantry.memory,
    sessions: gantry.service(agentKey)?.sessions,
    schedule: scheduler && { scheduler, promptNote: isConfigured ? undefined : noModelText },
    effectiveConfig: () => scrubValue(config) as Readonly<Record<string, unknown>>,
    doctor: () => examine(gantry, servers, { env, configFile }),
    clock,
    newId,
    log,
  };
  return {
    gantry,
    face,
    servers,
    deps,
    tokens,
    [Symbol.asyncDispose]: async () => {
      // The face takes leave of servers over the connections that go with the rest.
      await face[Symbol.asyncDispose]();
      await gantry[Symbol.asyncDispose]();
    },
  };
};

const isUnknown = ({ state, fingerprint, tools }: ServerStatus): boolean =>
  state === 'connecting' && fingerprint === null && tools === 0;

const examine = async (
  { config, paths, service, clock, store }: Gantry,
  servers: McpServers,
  options: {
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly configFile: string | undefined;
    readonly ask?: AskInstance | undefined;
  },
): Promise<DoctorReport> => {
  const { env, configFile, ask } = options;
  const { host, port } = config.serve;
  const runners = service(scriptRunners);
  const needsScriptsManager = config.scripts.runner === 'remote';
  const [owner, runner, kept, bus] = await Promise.all([
    findGateway(paths.dataDir, ask),
    runners?.python(),
    checkStore({
      url: config.store.url,
      storeFile: paths.storeFile,
      read: () => store.documents('store').list({ limit: 1 }),
      hasConfiguredKey: parseCryptoSecrets(env) !== undefined,
    }),
    checkBus({ ...config.bus, url: config.bus.url, needsScriptsManager, clock }),
  ]);
  const checks: DoctorCheck[] = [
    checkConfiguration(configFile),
    ...(await diagnose({
      ...paths,
      nodeVersion: process.versions.node,
      env,
      listen: { host, port, owner: owner?.url },
    })),
    kept,
    bus,
    ...(runner ? [checkScripts(runner)] : []),
    checkModels(service(agentKey)?.models),
    checkBrowser(config.web.renderServiceUrl ?? config.web.browserPath ?? findChromium(env)),
    ...checkServers(servers.servers()),
  ];
  return toReport(checks);
};
