import { deepFreeze } from '../../../kernel/json.ts';
import { toCanonical } from '../../../schema/canonical.ts';
import { typedToolName } from '../../../schema/tool-name.ts';
import type { Tool, ToolExecutor } from '../../../tool/executor.ts';
import { toRegistration } from '../../../tool/registration.ts';
import type { DownstreamTool } from '../../wire/manage-messages.ts';

/**
 * A server's tool as a tool of its own: `{server}__{tool}`, run by its stored server and name. Schemas are canonical, so
 * that equal schemas have equal bytes in a prompt.
 * @throws {GantryError} `invalid_registration` when the server's definition breaks the tool contract.
 */
export const toTypedTool = (server: string, tool: DownstreamTool, executor: ToolExecutor): Tool => ({
  registration: toRegistration({
    name: typedToolName(server, tool.name),
    description: `[${server}] ${tool.description?.trim() ? tool.description : tool.name}`,
    source: `mcp:${server}`,
    inputSchema: deepFreeze(toCanonical(tool.inputSchema)),
    outputSchema: tool.outputSchema && deepFreeze(toCanonical(tool.outputSchema)),
    annotations: tool.annotations,
    title: tool.title,
    target: { server, tool: tool.name },
  }),
  executor,
});
