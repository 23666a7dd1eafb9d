import type { RunLoop } from '../../agent/loop/run-loop.ts';
import type { TierModels } from '../../agent/models/tier-models.ts';
import { reportTool } from '../../agent/report-tool.ts';
import { taskIdOf } from '../../agent/subagents/subagent-record.ts';
import type { Subagents } from '../../agent/subagents/subagents.ts';
import type { ConversationLog } from '../../memory/conversation-log.ts';
import type { PluginHost } from '../../plugin/plugin.ts';
import type { ModelPort } from '../../tool/model-port.ts';
import type { Notify } from '../../tool/ports.ts';
import type { LoopConfig, ModelsConfig } from '../config/models-config.ts';
import { addWisps } from './add-wisps.ts';
import { addWorkers } from './add-workers.ts';
import type { AgentServers } from './agent.ts';
import { runHoldings } from './run-holdings.ts';
import { startSubagents } from './start-subagents.ts';

/** Registers everything by which an agent hands work over: subagents, workers and pipelines. The caller starts and disposes the subagents. */
export const addDelegation = (
  host: PluginHost,
  options: {
    readonly models: TierModels;
    readonly model: ModelPort;
    readonly runLoop: RunLoop;
    readonly conversations: Pick<ConversationLog, 'lastUserTurn'>;
    readonly servers: () => AgentServers | undefined;
    readonly timeZone: () => Promise<string>;
    readonly thresholds: ModelsConfig['tierThresholds'];
    readonly loop: LoopConfig;
    readonly notify: Notify;
  },
): Subagents => {
  const { loop, servers, timeZone } = options;
  const holdings = runHoldings(servers);
  const today = async (): Promise<string> => {
    const zone = await timeZone();
    const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeZone: zone });
    return `Today is ${day.format(new Date(host.clock.nowMs()))} (${zone}).`;
  };
  const subagents = startSubagents(host, {
    ...options,
    holdings,
    today,
    maxConcurrent: loop.maxConcurrentSubagents,
    defaultTimeoutMinutes: loop.subagentTimeoutMinutes,
  });
  const workers = addWorkers(host, { ...options, holdings, today, maxConcurrent: loop.maxConcurrentWorkers });
  addWisps(host, { ...options, maxConcurrent: loop.maxConcurrentWisps });
  const { registration, executor } = reportTool((namespace, message) =>
    (taskIdOf(namespace) === undefined ? workers : subagents).report(namespace, message),
  );
  host.tools.register(registration, executor);
  return subagents;
};
