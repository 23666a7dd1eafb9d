import { join } from 'node:path';
import type { RunLoop } from '../../agent/loop/run-loop.ts';
import { wispGuide } from '../../agent/wisps/wisp-guide.ts';
import { createWispLog } from '../../agent/wisps/wisp-log.ts';
import { wispTool } from '../../agent/wisps/wisp-tool.ts';
import { createWisps } from '../../agent/wisps/wisps.ts';
import { newId } from '../../kernel/ids.ts';
import { fileDefaults } from '../../mcp/tools/recovery/file-defaults.ts';
import { currentTimeProvider, timeZoneProvider } from '../../mcp/tools/recovery/time-providers.ts';
import type { PluginHost } from '../../plugin/plugin.ts';
import type { ModelPort } from '../../tool/model-port.ts';
import { createVolume } from '../../volume/volume.ts';
import type { AgentServers } from './agent.ts';

/** Registers the tool that runs pipelines, and its guide. What they did is appended to `wisps.jsonl` in the data folder. */
export const addWisps = (
  { callable, invoker, memory, clock, log, tools, guides, dataDir, sharedDir }: PluginHost,
  options: {
    readonly runLoop: RunLoop;
    readonly model: ModelPort;
    readonly servers: () => AgentServers | undefined;
    readonly maxConcurrent: number;
  },
): void => {
  const { runLoop, model, servers, maxConcurrent } = options;
  const wisps = createWisps({
    callable,
    invoker,
    runLoop,
    model,
    memory,
    clock,
    log,
    newId,
    maxConcurrent,
    volume: createVolume(sharedDir),
    toolsOf: (server) => servers()?.toolsOf?.(server) ?? [],
    providers: [
      timeZoneProvider,
      currentTimeProvider(clock),
      fileDefaults({ folder: join(dataDir, 'tool-defaults'), log }),
    ],
    wispLog: createWispLog({ path: join(dataDir, 'wisps.jsonl'), clock, log }),
  });
  const { registration, executor } = wispTool(wisps);
  tools.register(registration, executor);
  guides.add(wispGuide({ maxConcurrent }));
};
