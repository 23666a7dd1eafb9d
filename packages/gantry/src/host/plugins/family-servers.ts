import type { McpBridge } from '../../mcp/bridge/bridge.ts';
import type { FamilyServers } from '../../mcp/tools/typed/stand-ins.ts';
import type { ServerState } from '../../mcp/wire/server-state.ts';
import type { ToolFamily } from '../../tool/tool-family.ts';
import { toolFamilies } from '../../tool/tool-family.ts';

/** A program that is not running starts with the first call; whatever else is not connected may stay away. */
const callable: ReadonlySet<ServerState> = new Set(['connected', 'idle']);

/** The servers of a bridge that take the place of bundled tools. Looks at them only when something about them has changed. */
export const createFamilyServers = (bridge: Pick<McpBridge, 'servers' | 'onChange'>): FamilyServers => {
  const read = (): ReadonlyMap<ToolFamily, readonly string[]> => {
    const servers = bridge.servers().filter(({ state }) => callable.has(state));
    return new Map(
      toolFamilies.map((one) => [one, servers.filter(({ family }) => family === one).map(({ name }) => name)]),
    );
  };
  const listeners = new Set<() => void>();
  let known = read();
  bridge.onChange(() => {
    const now = read();
    const isSame = toolFamilies.every((family) => now.get(family)?.join('\n') === known.get(family)?.join('\n'));
    known = now;
    if (!isSame) for (const listener of listeners) listener();
  });
  return {
    of: (family) => known.get(family) ?? [],
    onChange: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
};
