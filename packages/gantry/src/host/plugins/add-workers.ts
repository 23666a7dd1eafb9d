import type { RunLoop } from '../../agent/loop/run-loop.ts';
import type { RunHoldings } from '../../agent/subagents/run-holdings.ts';
import { workerGuide } from '../../agent/workers/worker-guide.ts';
import { workerTool } from '../../agent/workers/worker-tool.ts';
import type { Workers } from '../../agent/workers/workers.ts';
import { createWorkers } from '../../agent/workers/workers.ts';
import { newId } from '../../kernel/ids.ts';
import type { PluginHost } from '../../plugin/plugin.ts';
import type { AgentServers } from './agent.ts';

/** Registers the tool that runs workers, and its guide. */
export const addWorkers = (
  { callable, memory, clock, log, tools, guides }: PluginHost,
  options: {
    readonly runLoop: RunLoop;
    readonly servers: () => AgentServers | undefined;
    readonly holdings: RunHoldings;
    readonly today: () => Promise<string>;
    readonly maxConcurrent: number;
  },
): Workers => {
  const { servers, maxConcurrent } = options;
  const workers = createWorkers({
    ...options,
    callable,
    memory,
    clock,
    log,
    newId,
    servers: () => (servers()?.summaries() ?? []).map(({ serverName }) => serverName),
    toolsOf: (server) => servers()?.toolsOf?.(server) ?? [],
  });
  const { registration, executor } = workerTool(workers);
  tools.register(registration, executor);
  guides.add(workerGuide({ maxConcurrent }));
  return workers;
};
