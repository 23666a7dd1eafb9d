/** The topics of Gantry's bus. Those that belong to one agent, proxy or caller are functions of its name. */
export const topics = {
  /** Calls of local tools; answered on `replyTo`, else on `toolResult`. */
  toolInvoke: 'tool.invoke',
  toolResult: 'tool.result',
  toolResultOf: (agent: string): string => `tool.result.${toTopicSegment(agent)}`,
  /** Progress, logging and preliminary parts of a running call, by correlation id. */
  toolProgressOf: (agent: string): string => `tool.progress.${toTopicSegment(agent)}`,
  /** Gives up the call with the message's correlation id. */
  toolCancel: 'tool.cancel',
  /** Calls of MCP servers' tools. */
  mcpInvoke: 'tool.invoke.mcp',
  mcpManage: 'mcp.manage',
  mcpManageResponseOf: (agent: string): string => `mcp.manage.response.${toTopicSegment(agent)}`,
  /** The index of connected servers. */
  mcpMetaOf: (agent: string): string => `tool.meta.mcp.${toTopicSegment(agent)}`,
  mcpMetaRefresh: 'tool.meta.mcp.refresh',
  /** A server asks whoever made the call: elicitation, sampling, roots. */
  mcpPeerRequest: 'mcp.peer.request',
  mcpPeerResponse: 'mcp.peer.response',
  mcpTaskResultOf: (agent: string): string => `mcp.task.result.${toTopicSegment(agent)}`,
  scriptInvoke: 'script.invoke',
  /** Gives up the script with the message's correlation id. */
  scriptCancel: 'script.cancel',
  scriptResultOf: (agent: string): string => `script.result.${toTopicSegment(agent)}`,
  userMessage: 'user.message',
  userResponse: 'user.response',
  userResponseOf: (proxy: string): string => `user.response.${toTopicSegment(proxy)}`,
  userFeedback: 'user.feedback',
  conversationHistoryRequest: 'conversation.history.request',
  conversationHistoryResponseOf: (proxy: string): string => `conversation.history.response.${toTopicSegment(proxy)}`,
  agentTaskOf: (agent: string): string => `agent.task.${toTopicSegment(agent)}`,
  agentTaskStatus: 'agent.task.status',
  agentTaskCancel: 'agent.task.cancel',
  agentResponseOf: (caller: string): string => `agent.response.${toTopicSegment(caller)}`,
  discoveryAnnounce: 'discovery.announce',
  subagentProgress: 'subagent.progress',
  subagentResult: 'subagent.result',
} as const;

/** A name as one topic segment: what would split the topic or act as a wildcard is percent-encoded, so names never collide. */
export const toTopicSegment = (name: string): string =>
  encodeURIComponent(name).replaceAll('.', '%2E').replaceAll('*', '%2A');
