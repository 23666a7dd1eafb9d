import type { RunHoldings } from '../../agent/subagents/run-holdings.ts';
import type { AgentServers } from './agent.ts';

/** What the servers of an agent hold for its runs. */
export const runHoldings = (servers: () => AgentServers | undefined): RunHoldings => ({
  openTasks: async (namespace) =>
    ((await servers()?.tasks?.list()) ?? []).flatMap(({ id, value }) => (value.session === namespace ? [id] : [])),
  cancelTask: async (id, session) => servers()?.tasks?.cancel(id, { kind: 'agent', session }),
  releaseQuestions: async (namespace) => servers()?.questions?.release(namespace),
});
