import type { RunLoop } from '../../agent/loop/run-loop.ts';
import type { TierThresholds } from '../../agent/models/choose-tier.ts';
import type { TierModels } from '../../agent/models/tier-models.ts';
import type { RunHoldings } from '../../agent/subagents/run-holdings.ts';
import { subagentGuide } from '../../agent/subagents/subagent-guide.ts';
import { subagentTools } from '../../agent/subagents/subagent-tools.ts';
import type { Subagents } from '../../agent/subagents/subagents.ts';
import { createSubagents } from '../../agent/subagents/subagents.ts';
import { newId } from '../../kernel/ids.ts';
import type { ConversationLog } from '../../memory/conversation-log.ts';
import type { PluginHost } from '../../plugin/plugin.ts';
import type { Notify } from '../../tool/ports.ts';
import { createVolume } from '../../volume/volume.ts';

const minuteMs = 60_000;

/** Makes the subagents of an agent and registers their tools and guide. The caller starts and disposes them. */
export const startSubagents = (
  { store, bus, agent, memory, clock, log, tools, guides, sharedDir }: PluginHost,
  options: {
    readonly models: TierModels;
    readonly runLoop: RunLoop;
    readonly conversations: Pick<ConversationLog, 'lastUserTurn'>;
    readonly holdings: RunHoldings;
    readonly today: () => Promise<string>;
    readonly thresholds: TierThresholds;
    readonly maxConcurrent: number;
    readonly defaultTimeoutMinutes: number;
    readonly notify: Notify;
  },
): Subagents => {
  const { maxConcurrent, defaultTimeoutMinutes, conversations } = options;
  const subagents = createSubagents({
    ...options,
    store,
    bus,
    agent,
    memory,
    clock,
    log,
    newId,
    defaultTimeoutMs: defaultTimeoutMinutes * minuteMs,
    lastUserText: async (namespace) => (await conversations.lastUserTurn(namespace))?.text,
  });
  const volume = createVolume(sharedDir);
  for (const { registration, executor } of subagentTools(subagents, { memory, volume, defaultTimeoutMinutes }))
    tools.register(registration, executor);
  guides.add(subagentGuide({ maxConcurrent, defaultTimeoutMinutes }));
  return subagents;
};
