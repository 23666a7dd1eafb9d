import { GantryError } from '../kernel/errors.ts';
import type { ConversationTurn, RecentTurns } from '../mcp/bridge/elicitation/conversation-responder.ts';
import type { LastUserTurn } from '../mcp/bridge/questions/question-desk.ts';
import type { StoredTurn } from '../memory/conversation-turn.ts';
import type { RunTurn } from '../schedule/run-action.ts';
import type { Notify } from '../tool/ports.ts';
import type { AgentService } from './plugins/agent.ts';

/**
 * What other plugins need of the agent, as functions that can be handed to them before the agent is there: plugins are made from options,
 * and the agent is set up with the others.
 */
export interface AgentPorts {
  readonly notify: Notify;
  readonly lastUserTurn: LastUserTurn;
  readonly recentTurns: RecentTurns;
  readonly runTurn: RunTurn;
  /** Connects them; the agent's plugin does, in its setup. */
  bind(agent: AgentService): void;
}

/** Makes ports that nobody is behind yet. */
export const createAgentPorts = (): AgentPorts => {
  let bound: AgentService | undefined;
  const agent = (): AgentService => {
    if (bound) return bound;
    throw new GantryError('plugin_unresolved', 'The agent is not set up; use its plugin before those that need it.', {
      details: { needs: 'agent' },
    });
  };
  return {
    notify: (notice) => agent().sessions.notify(notice),
    lastUserTurn: (namespace) => agent().conversations.lastUserTurn(namespace),
    recentTurns: async (session, limit) => {
      const turns = await agent().conversations.recentTurns(`session/${session}`, limit);
      return turns.flatMap(toConversationTurn);
    },
    runTurn: (run) => agent().sessions.runTask(run),
    bind: (service) => {
      bound = service;
    },
  };
};

/** What an agent tells itself is said by nobody of the conversation. */
const toConversationTurn = (turn: StoredTurn): readonly ConversationTurn[] => {
  if (turn.text.trim() === '') return [];
  if (turn.role === 'assistant') return [{ speaker: 'assistant', text: turn.text }];
  return turn.origin === 'person' ? [{ speaker: turn.speaker ?? 'user', text: turn.text }] : [];
};
