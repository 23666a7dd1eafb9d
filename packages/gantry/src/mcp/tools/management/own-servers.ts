import type { Tool } from '../../../tool/executor.ts';
import type { ManageClient } from '../manage-client.ts';
import type { ReadServerName } from './management-tool.ts';
import { managementTool, serverNameSchema, textArgument } from './management-tool.ts';

/** `mcp_register_server` and `mcp_unregister_server`: servers that a model adds, and only those. */
export const ownServers = (
  manage: Pick<ManageClient, 'register' | 'unregister'>,
  serverOf: ReadServerName,
): readonly Tool[] => [
  managementTool({
    name: 'mcp_register_server',
    description: 'Connects a new MCP server by its URL. Only new names; a server that is there cannot be changed.',
    properties: {
      name: { type: 'string', description: 'Letters, digits, "_", "." and "-"; at most 64, and no "__".' },
      type: { type: 'string', enum: ['sse'], description: 'sse = any HTTP server.' },
      url: { type: 'string', description: 'Its http or https address.' },
    },
    required: ['name', 'type', 'url'],
    annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: true },
    execute: async (args) => {
      const [name, url] = [textArgument(args, 'name'), textArgument(args, 'url')];
      return (await manage.register({ name, type: 'sse', url })).message;
    },
  }),
  managementTool({
    name: 'mcp_unregister_server',
    description: 'Disconnects and removes a server that was added with mcp_register_server. No other can be removed.',
    properties: { server_name: serverNameSchema },
    required: ['server_name'],
    annotations: { readOnlyHint: false, destructiveHint: true },
    execute: async (args, context) => (await manage.unregister(serverOf(args, context))).message,
  }),
];
