import type { Tool } from '../../../tool/executor.ts';
import type { ManageClient } from '../manage-client.ts';
import type { ReadServerName } from './management-tool.ts';
import { managementTool, serverNameSchema, textArgument } from './management-tool.ts';

/** `mcp_list_resources` and `mcp_read_resource`: data that servers offer by address. */
export const resourceTools = (
  manage: Pick<ManageClient, 'resources' | 'readResource'>,
  serverOf: ReadServerName,
): readonly Tool[] => [
  managementTool({
    name: 'mcp_list_resources',
    description: 'Lists the resources of an MCP server, by URI, and its resource templates.',
    properties: { server_name: serverNameSchema },
    required: ['server_name'],
    annotations: { readOnlyHint: true },
    execute: async (args, context) => {
      const { server, resources, templates } = await manage.resources(serverOf(args, context));
      if (resources.length === 0 && templates.length === 0) return `Server "${server}" has no resources.`;
      return { value: { server, resources: resources.map(withoutNulls), templates: templates.map(withoutNulls) } };
    },
  }),
  managementTool({
    name: 'mcp_read_resource',
    description:
      'Reads one resource of an MCP server. Short text comes back as it is; long text and bytes are saved to the shared folder and come back as a path.',
    properties: {
      server_name: serverNameSchema,
      uri: { type: 'string', description: "The server's own URI; with a template, all its variables filled in." },
    },
    required: ['server_name', 'uri'],
    annotations: { readOnlyHint: true },
    execute: async (args, context) => {
      const { server, uri, contents } = await manage.readResource({
        serverName: serverOf(args, context),
        uri: textArgument(args, 'uri'),
      });
      return { value: { server, uri, contents: contents.map(withoutNulls) } };
    },
  }),
];

const withoutNulls = (described: object): object =>
  Object.fromEntries(Object.entries(described).filter(([, value]) => value !== null && value !== undefined));
