import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { McpOptions, McpServers, ServerStatus } from 'gantry/mcp';
import { mcp, mcpServers } from 'gantry/mcp';
import type { LocalGantry } from './local-gantry.ts';
import { startGantry } from './local-gantry.ts';

/** A Gantry with MCP servers. */
export interface ServedGantry extends LocalGantry {
  readonly servers: McpServers;
  /** How a server stands now. */
  status(name: string): ServerStatus;
  /** Resolves when a server has a tool of that name, which may be now. */
  untilTool(name: string): Promise<void>;
}

/** Starts a Gantry with these entries in its file of servers. Servers are not waited for. */
export const startServed = async (
  entries: Readonly<Record<string, unknown>>,
  options: Omit<McpOptions, 'config'> = {},
): Promise<ServedGantry> => {
  const local = await startGantry(async (folder) => {
    const config = join(folder, 'mcp.json');
    await writeFile(config, JSON.stringify({ mcpServers: entries }));
    return [
      mcp({ stdio: 'launch', configPollIntervalSeconds: 0, reconnectSweepIntervalSeconds: 0, ...options, config }),
    ];
  });
  const servers = local.gantry.service(mcpServers) as McpServers;
  const { toolsets } = local.gantry;
  return {
    ...local,
    servers,
    status: (name) => servers.servers().find((server) => server.name === name) as ServerStatus,
    untilTool: (name) =>
      new Promise((resolve) => {
        const isThere = (): boolean =>
          toolsets.for({ caller: 'operator' }).tools.some(({ target }) => target?.tool === name);
        if (isThere()) return resolve();
        const stop = toolsets.onChange(() => {
          if (!isThere()) return;
          stop();
          resolve();
        });
      }),
  };
};
