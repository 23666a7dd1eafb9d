/** The agent: conversations and the loop that drives Gantry's tools with a model; and Gantry's tools for a loop of one's own. */
export { agent, agentKey } from './host/plugins/agent.ts';
export type { AgentOptions, AgentService } from './host/plugins/agent.ts';
export type { AgentSessions, UserMessage } from './agent/sessions/agent-sessions.ts';
export type { OnSessionEvent, RepliedCall, SessionEvent, TurnReply } from './agent/sessions/session-events.ts';

export { createTierModels } from './agent/models/tier-models.ts';
export type { TierModel, TierModels } from './agent/models/tier-models.ts';
export type { ModelProvider, ModelsSettings, TierSettings } from './agent/models/model-settings.ts';
export type { ModelBehavior, ModelBehaviors } from './agent/models/model-behavior.ts';
export type { OpenModel, ReachableModel, SdkModel } from './agent/models/providers/provider-model.ts';

export type { RunLoop } from './agent/loop/run-loop.ts';
export type { LoopResult, LoopRun, TokenUsage } from './agent/loop/loop-run.ts';
export type { LoopEvent, OnLoopEvent } from './agent/loop/loop-events.ts';
export type { ReferredTo, ServiceHints } from './agent/context/build-context.ts';

export { toAiSdkTools } from './agent/ai-sdk-tools.ts';
export type { ToolCaller } from './agent/ai-sdk-tools.ts';
