/** The MCP side of Gantry: the plugin that connects servers, and what it provides. */
export { mcp, mcpServers } from './host/plugins/mcp.ts';
export type { McpOptions, McpServers } from './host/plugins/mcp.ts';
export type { ServerState, ServerStatus } from './mcp/wire/server-state.ts';
export type { ServiceDetails } from './mcp/wire/manage-messages.ts';
