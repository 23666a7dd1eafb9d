import { resolve } from 'node:path';
import { createEnvelope } from '../../bus/envelope.ts';
import { messageHeaders } from '../../bus/headers.ts';
import { topics } from '../../bus/topics.ts';
import type { McpBridgeSettings } from '../../mcp/bridge/bridge-options.ts';
import type { AuthProfile, AuthProfileSettings } from '../../mcp/bridge/auth/auth-profile.ts';
import { toAuthProfile } from '../../mcp/bridge/auth/auth-profile.ts';
import type { ElicitationResponder } from '../../mcp/bridge/elicitation/responder.ts';
import type { LastUserTurn } from '../../mcp/bridge/questions/question-desk.ts';
import type { McpBridge } from '../../mcp/bridge/bridge.ts';
import { createMcpBridge } from '../../mcp/bridge/bridge.ts';
import { createMcpConfigFile } from '../../mcp/bridge/config/config-file.ts';
import type { IsOwnListener } from '../../net/address/own-listeners.ts';
import { readNetPolicy } from '../../net/address/policy.ts';
import type { KnowsServer } from '../../mcp/tools/knows-server.ts';
import type { McpToolsSettings } from '../../mcp/tools/mcp-tools.ts';
import { createMcpTools } from '../../mcp/tools/mcp-tools.ts';
import { mcpOrientation } from '../../mcp/tools/orientation.ts';
import type { FoundTool } from '../../mcp/tools/typed/tool-search.ts';
import type { ServerIndex } from '../../mcp/tools/server-index.ts';
import type { McpServersIndexed, ServerSummary } from '../../mcp/wire/index-message.ts';
import { serversIndexedType } from '../../mcp/wire/index-message.ts';
import type { ServiceDetails } from '../../mcp/wire/manage-messages.ts';
import type { Plugin, PluginHost, ServiceKey } from '../../plugin/plugin.ts';
import type { EmbeddingModel } from '../../tool/embedding-model.ts';
import type { ModelPort } from '../../tool/model-port.ts';
import type { Notify } from '../../tool/ports.ts';
import type { CallContext } from '../../tool/context.ts';
import type { Tool } from '../../tool/executor.ts';
import { createVolume } from '../../volume/volume.ts';
import { version } from '../version.ts';
import { createFamilyServers } from './family-servers.ts';

/** How the plugin is used. */
export interface McpOptions extends McpBridgeSettings, McpToolsSettings {
  /** File of servers, default `mcp.json` in the working folder; it need not exist. */
  readonly config?: string | undefined;
  /** Name to URL: written into the file unless an entry points there already. */
  readonly defaultServers?: Readonly<Record<string, string>> | undefined;
  /** How often the file is looked at beside watching it; default 5, 0 = never. */
  readonly configPollIntervalSeconds?: number | undefined;
  /** For `${NAME}` in headers and for launched programs; default the process's own. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Where this process listens itself: a server that a model registers is never there. */
  readonly isOwnListener?: IsOwnListener | undefined;
  /** Whether a caller may know of a server; default every caller of every one. */
  readonly knows?: KnowsServer | undefined;
  /** Servers are connected after that; default at once. */
  readonly connectAfter?: Promise<unknown> | undefined;
  /** Sources of bearer tokens that entries of the file name with `"auth": { "profile": NAME }`: settings, or a program's own. */
  readonly authProfiles?: Readonly<Record<string, AuthProfile | AuthProfileSettings>> | undefined;
  /** Lets tools be found by what they mean, beside their words; without it they are found by words. */
  readonly embedding?: EmbeddingModel | undefined;
  /** Writes the sentence on each server that callers are shown. Default: the first tools are named. */
  readonly model?: ModelPort | undefined;
  /** Who answers questions of servers, by the name that policies use. Default nobody: only the operator's defaults answer. */
  readonly responders?: ReadonlyMap<string, ElicitationResponder> | undefined;
  /** Which of them answers where a policy names none. */
  readonly defaultResponder?: string | undefined;
  /** What the user of a session said last. Without it no decision is taken from an agent. */
  readonly lastUserTurn?: LastUserTurn | undefined;
  /** Looks after background tasks, and after questions of servers that are gone; false for a command beside a gateway. Default true. */
  readonly followsTasks?: boolean | undefined;
  /** Tells sessions of results that come late; without it they are only kept in working memory. */
  readonly notify?: Notify | undefined;
}

/** The MCP servers of a Gantry, for those who show or change them. */
export interface McpServers extends Pick<
  McpBridge,
  'servers' | 'refresh' | 'configError' | 'add' | 'remove' | 'setEnabled' | 'startSignIn' | 'finishSignIn'
> {
  /** A server's identity, tools and prompts, now or when it was last connected; undefined when they are not known. */
  details(name: string): Promise<ServiceDetails | undefined>;
  readonly openPass: McpBridge['openPass'];
  readonly questions: McpBridge['questions'];
  readonly tasks: McpBridge['tasks'];
  /** The connected servers, with what tells whether they have changed. */
  summaries(): readonly ServerSummary[];
  /** What a run of this caller is told about servers, right behind its system prompt. */
  orientation(context: CallContext): string;
  /** Searches the tools of servers that this caller may have; best first. */
  findTools(query: string, limit: number, context: CallContext): Promise<readonly FoundTool[]>;
  /** The typed tools of a server, whose name is in any case; none while it is not connected. Whether a caller may have one is asked elsewhere. */
  toolsOf(server: string): readonly Tool[];
  /** Resolves when every server, or this one, had its first attempt to connect and the tools of those that did are there. */
  ready(server?: string): Promise<void>;
}

/** Under this key the plugin provides {@link McpServers}. */
export const mcpServers: ServiceKey<McpServers> = { name: 'mcp.servers' };

/**
 * Connects to MCP servers and offers their tools as `{server}__{tool}`. Both halves live in this process and talk over the
 * bus: the bridge owns the connections, the agent side offers the tools.
 */
export const mcp = (options: McpOptions = {}): Plugin => ({
  name: 'mcp',
  setup: async (gantry) => {
    const { bus, agent, log, clock, tools, guides } = gantry;
    const {
      config = 'mcp.json',
      defaultServers,
      configPollIntervalSeconds,
      env = process.env,
      isOwnListener,
      knows,
      connectAfter,
      authProfiles = {},
      embedding,
      model,
      responders,
      defaultResponder,
      lastUserTurn,
      notify,
      followsTasks,
      ...settings
    } = options;
    const bridge = createMcpBridge({
      agent,
      bus,
      clock,
      log,
      env,
      settings,
      version,
      connectAfter,
      model,
      authProfiles: Object.fromEntries(
        Object.entries(authProfiles).map(([name, profile]) => [
          name,
          'token' in profile ? profile : toAuthProfile(profile, env),
        ]),
      ),
      responders,
      defaultResponder,
      lastUserTurn,
      followsTasks,
      store: gantry.store,
      stash: gantry.memory.stash,
      addresses: { policy: readNetPolicy(env), isOwnListener: isOwnListener ?? (() => false) },
      volume: createVolume(gantry.sharedDir),
      config: createMcpConfigFile({
        path: resolve(config),
        clock,
        log,
        defaultServers,
        pollIntervalSeconds: configPollIntervalSeconds,
      }),
    });
    const agentSide = await createMcpTools({
      bus,
      agent,
      clock,
      log,
      guides,
      registry: tools,
      fit: gantry.fitTool,
      knows,
      store: gantry.store,
      dataDir: gantry.dataDir,
      settings,
      embedding,
      familyServers: createFamilyServers(bridge),
      notify,
      requestTimeoutMs: settings.defaultTimeoutMs,
    });
    const { index, manage, search, typed, catalog } = agentSide;
    gantry.offerTypedTools(typed);
    gantry.provide(mcpServers, {
      servers: () => bridge.servers(),
      refresh: async (name) => {
        // What is being connected just now is as fresh as it can be.
        const connecting = bridge.servers().filter(({ state }) => state === 'connecting');
        const tried = connecting.map((server) => untilTried(bridge, server.name));
        if (name === undefined) await Promise.all([bridge.refresh(), ...tried]);
        else if (bridge.server(name)?.state === 'connecting') await untilTried(bridge, name);
        else await bridge.refresh(name);
        await caughtUp(gantry, index);
      },
      configError: () => bridge.configError(),
      add: (...args) => bridge.add(...args).then((status) => caughtUp(gantry, index).then(() => status)),
      remove: (name) => bridge.remove(name).then(() => caughtUp(gantry, index)),
      setEnabled: (...args) => bridge.setEnabled(...args).then((status) => caughtUp(gantry, index).then(() => status)),
      startSignIn: bridge.startSignIn,
      finishSignIn: (answer) =>
        bridge.finishSignIn(answer).then((status) => caughtUp(gantry, index).then(() => status)),
      details: async (name) => {
        const known = index.list().find((server) => server.serverName.toLowerCase() === name.toLowerCase());
        return known && manage.details(known.serverName);
      },
      openPass: bridge.openPass,
      questions: bridge.questions,
      tasks: bridge.tasks,
      summaries: index.list,
      orientation: (context) => mcpOrientation(typed.modeOf(context)),
      toolsOf: (server) => catalog.ofServer(server).flatMap(({ kind, tool }) => (kind === 'tool' ? [tool] : [])),
      findTools: (query, limit, context) => search.find('tool', query, limit, context),
      ready: async (name) => {
        await (name === undefined ? bridge.ready() : untilTried(bridge, name));
        await caughtUp(gantry, index);
      },
    });
    gantry.onStart(async () => {
      await bridge.start();
      // Without a server nothing would be announced, and a model could not add the first one.
      await caughtUp(gantry, index);
    });
    gantry.onStop(() => agentSide[Symbol.asyncDispose]());
    gantry.onStop(() => bridge[Symbol.asyncDispose]());
  },
});

/** Resolves when an attempt to connect the server that is running has ended, at once when there is none. */
const untilTried = async (bridge: McpBridge, name: string): Promise<void> => {
  const isTrying = (): boolean => bridge.server(name)?.state === 'connecting';
  if (!isTrying()) return;
  const tried = Promise.withResolvers<void>();
  const stop = bridge.onChange(() => {
    if (!isTrying()) tried.resolve();
  });
  try {
    await tried.promise;
  } finally {
    stop();
  }
};

/** Waits until the agent side has applied everything that the bridge announced before; announcements are applied in order. */
const caughtUp = async ({ bus, agent }: PluginHost, index: ServerIndex): Promise<void> => {
  const body: McpServersIndexed = { servers: [], removedServers: [] };
  const marker = createEnvelope({
    messageType: serversIndexedType,
    source: agent,
    body,
    headers: { [messageHeaders.contentTrust]: 'system' },
  });
  const seen = Promise.withResolvers<void>();
  const stop = index.onMessage((message) => {
    if (message === marker.body) seen.resolve();
  });
  try {
    await bus.publish(topics.mcpMetaOf(agent), marker);
    await seen.promise;
  } finally {
    stop();
  }
};
