import type { Tool } from '../../../tool/executor.ts';
import type { CallContext } from '../../../tool/context.ts';
import type { ServerSummary } from '../../wire/index-message.ts';
import { listServicesName } from '../typed/typed-tools.ts';
import { managementTool } from './management-tool.ts';

/** `mcp_list_services`: the servers that the caller may know of, from the index; nobody is asked. */
export const listServices = (servers: (context: CallContext) => readonly ServerSummary[]): Tool =>
  managementTool({
    name: listServicesName,
    description: 'Lists the connected MCP servers: what each is for, and the names of its tools and prompts.',
    annotations: { readOnlyHint: true },
    execute: async (_args, context) => ({ value: servers(context).map(toListed) }),
  });

const toListed = (server: ServerSummary): object => ({
  serverName: server.serverName,
  serverId: server.serverId,
  summary: server.summary,
  toolCount: server.toolCount,
  toolNames: server.toolNames,
  promptCount: server.promptCount,
  promptNames: server.promptNames,
  ...(server.resourceCount > 0 && { resourceCount: server.resourceCount, resourceNames: server.resourceNames }),
});
