import type { ServiceHints } from '../../agent/context/build-context.ts';
import { serverServices } from '../../agent/services/server-services.ts';
import { createServiceHints } from '../../agent/services/service-hints.ts';
import { createServiceSearch } from '../../agent/services/service-search.ts';
import { serviceSearchTool } from '../../agent/services/service-tool.ts';
import type { PluginHost } from '../../plugin/plugin.ts';
import type { AgentServers } from './agent.ts';

/** Registers the tool that finds services, and gives the hints about them for each turn. */
export const addServices = (
  { tools, fitTool, callable }: PluginHost,
  servers: () => AgentServers | undefined,
): ServiceHints => {
  const search = createServiceSearch([
    serverServices({
      summaries: () => servers()?.summaries() ?? [],
      toolsOf: (server) => servers()?.toolsOf?.(server) ?? [],
      fit: fitTool,
      callable,
    }),
  ]);
  const { registration, executor } = serviceSearchTool(search, () => (servers()?.summaries().length ?? 0) > 0);
  tools.register(registration, executor);
  return createServiceHints(search);
};
