/** The MCP side of Gantry: the plugin that connects servers, and what it provides. */
export { mcp, mcpServers } from './host/plugins/mcp.ts';
export type { McpOptions, McpServers } from './host/plugins/mcp.ts';
export { mcpTools } from './host/plugins/mcp-tools.ts';
export type { McpProgram, McpToolsOptions } from './host/plugins/mcp-tools.ts';
export type { ArgGuard, ArgGuardHandler, ArgGuardHandlers, GuardedCall } from './mcp/bridge/guards/arg-guard.ts';
export type { ServerState, ServerStatus } from './mcp/wire/server-state.ts';
export type { ServiceDetails } from './mcp/wire/manage-messages.ts';
export type {
  ElicitationAnswer,
  ElicitationRequest,
  ElicitationResponder,
} from './mcp/bridge/elicitation/responder.ts';
export type { FieldOption, FieldValue, FormField } from './mcp/bridge/elicitation/form-field.ts';
export type { LastUserTurn } from './mcp/bridge/questions/question-desk.ts';
export type { Notify } from './tool/ports.ts';
export type { AuthProfile, AuthProfileSettings } from './mcp/bridge/auth/auth-profile.ts';
export type { EmbeddingModel, EmbedTexts } from './tool/embedding-model.ts';
export type { ModelPort } from './tool/model-port.ts';
