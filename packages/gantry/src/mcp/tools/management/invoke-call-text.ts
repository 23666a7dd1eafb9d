import { toSignature } from '../../../schema/signature.ts';
import type { CatalogEntry } from '../typed/catalog.ts';

/** The arguments of `mcp_invoke_tool` that call this tool, for a model to fill in. */
export const invokeCallText = (server: string, tool: string, inputSchema: unknown): string =>
  `{"server_name": ${JSON.stringify(server)}, "tool_name": ${JSON.stringify(tool)}, "arguments": ${toSignature(inputSchema)}}`;

/** The same for a tool of the catalog. */
export const entryCallText = ({ server, name, tool }: CatalogEntry): string =>
  invokeCallText(server, name, tool.registration.inputSchema);
