import { orAborted, startDeadline } from '../../kernel/abort.ts';
import { GantryError, messageOf } from '../../kernel/errors.ts';
import { faultOutcome } from '../../mcp/bridge/call/call-outcomes.ts';
import type { MaskSecrets } from '../../mcp/bridge/config/entry-secrets.ts';
import { maskSecretsOf, withSecretsMasked } from '../../mcp/bridge/config/entry-secrets.ts';
import { ownErrorOf, toConnectionFault } from '../../mcp/bridge/connection/connection-errors.ts';
import type { Connection } from '../../mcp/bridge/connection/open-connection.ts';
import { openConnection } from '../../mcp/bridge/connection/open-connection.ts';
import { noSdkTimeoutMs } from '../../mcp/bridge/connection/sdk.ts';
import { rawResult } from '../../mcp/bridge/connection/watch-transport.ts';
import type { MapResult } from '../../mcp/bridge/result/result-mapper.ts';
import { createResultMapper } from '../../mcp/bridge/result/result-mapper.ts';
import { readListedTools } from '../../mcp/bridge/surface/read-surface.ts';
import type { DownstreamTool } from '../../mcp/wire/manage-messages.ts';
import type { Plugin, PluginHost } from '../../plugin/plugin.ts';
import type { ToolExecutor } from '../../tool/executor.ts';
import { createVolume } from '../../volume/volume.ts';
import { version } from '../version.ts';

/** A program that serves MCP over its standard input and output. */
export interface McpProgram {
  readonly name: string;
  readonly command: string;
  readonly arguments?: readonly string[] | undefined;
  readonly environmentVariables?: Readonly<Record<string, string>> | undefined;
}

/** Which programs are launched. */
export interface McpToolsOptions {
  readonly servers: readonly McpProgram[];
  /** How long a program may take to list its tools; default 10,000. */
  readonly connectTimeoutMs?: number | undefined;
  /** The host's environment, of which programs get a few variables; default the process's own. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

/**
 * Launches MCP programs at the start and registers their tools under their own names, for tests and small setups: nothing between a
 * call and the program. A program that fails is left out, and so is a tool whose name is taken; both are logged. Takes the place of
 * the plugin {@link mcp}, which does everything else.
 */
export const mcpTools = (options: McpToolsOptions): Plugin => ({
  // The same as the other's, so that the two are never used together.
  name: 'mcp',
  setup: (gantry) => {
    const connections = new AsyncDisposableStack();
    const mapResult = createResultMapper({ volume: createVolume(gantry.sharedDir), log: gantry.log });
    gantry.onStart(async () => {
      const launched = await Promise.all(options.servers.map((server) => launch(server, options, gantry, connections)));
      for (const program of launched) if (program) registerTools(program, mapResult, gantry);
    });
    gantry.onStop(() => connections.disposeAsync());
  },
});

interface Launched {
  readonly name: string;
  readonly connection: Connection;
  readonly tools: readonly DownstreamTool[];
  readonly mask: MaskSecrets;
}

const maxResponseBytes = 32 * 1024 * 1024;

const launch = async (
  { name, command, arguments: args = [], environmentVariables: env = {} }: McpProgram,
  { connectTimeoutMs = 10_000, env: hostEnv = process.env }: McpToolsOptions,
  { clock, log: hostLog }: PluginHost,
  connections: AsyncDisposableStack,
): Promise<Launched | undefined> => {
  using deadline = startDeadline(clock, connectTimeoutMs);
  const { signal } = deadline;
  const entry = { type: 'stdio', command, args, env } as const;
  const mask = maskSecretsOf(entry, hostEnv);
  const log = withSecretsMasked(hostLog, mask);
  try {
    const connection = await openConnection(name, entry, {
      clock,
      log,
      fetch,
      tokens: undefined,
      env: hostEnv,
      clientVersion: version,
      maxResponseBytes,
      stdioProbeTimeoutMs: Math.min(3_000, Math.ceil(connectTimeoutMs / 2)),
      signal,
      // The plain path answers no questions.
      answers: {},
      onListChanged: () => log.debug({ server: name }, 'a program changed its tools; they are read at the next start'),
      onLost: (reason) => log.error({ server: name, reason }, `The program of server "${name}" has ended.`),
    });
    connections.use(connection);
    const tools = await orAborted(readListedTools(connection, { server: name, log, signal }), signal);
    return { name, connection, tools, mask };
  } catch (error) {
    log.error(
      { server: name, reason: messageOf(ownErrorOf(error) ?? error) },
      `Server "${name}" is left out: it could not be started.`,
    );
    return undefined;
  }
};

const registerTools = (
  { name, connection, tools, mask }: Launched,
  mapResult: MapResult,
  { tools: registry, log }: PluginHost,
): void => {
  for (const tool of tools) {
    try {
      registry.register(
        {
          name: tool.name,
          description: tool.description?.trim() || tool.title || tool.name,
          source: `mcp:${name}`,
          inputSchema: tool.inputSchema,
          outputSchema: tool.outputSchema,
          annotations: tool.annotations,
          title: tool.title,
        },
        executorOf(name, connection, tool, { mapResult, mask }),
      );
    } catch (error) {
      if (!GantryError.is(error)) throw error;
      log.error({ server: name, tool: tool.name, reason: error.message }, `A tool of server "${name}" is left out.`);
    }
  }
};

const executorOf = (
  server: string,
  { client }: Connection,
  tool: DownstreamTool,
  { mapResult, mask }: { readonly mapResult: MapResult; readonly mask: MaskSecrets },
): ToolExecutor => ({
  execute: async (call, context) => {
    const { signal, onProgress } = context;
    let raw: unknown;
    try {
      raw = await client.request(
        { method: 'tools/call', params: { name: tool.name, arguments: call.arguments } },
        rawResult,
        { timeout: noSdkTimeoutMs, ...(signal ? { signal } : {}), ...(onProgress ? { onprogress: onProgress } : {}) },
      );
    } catch (error) {
      signal?.throwIfAborted();
      return faultOutcome(server, toConnectionFault(error, { hadSession: false, mask }), tool);
    }
    return await mapResult(raw, { server, tool: tool.name, context });
  },
});
