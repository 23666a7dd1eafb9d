import type { PrepareArguments } from '../../../invoke/prepare-arguments.ts';
import { toSignature } from '../../../schema/signature.ts';
import { typedToolName } from '../../../schema/tool-name.ts';
import type { CallContext } from '../../../tool/context.ts';
import type { Tool, ToolExecutor } from '../../../tool/executor.ts';
import { failedOutcome } from '../../../tool/outcome.ts';
import type { ToolRegistration } from '../../../tool/registration.ts';
import { toRegistration } from '../../../tool/registration.ts';
import { toInvokeArguments } from './invoke-arguments.ts';
import type { ReadServerName } from './management-tool.ts';
import { managementTool, serverNameSchema, textArgument } from './management-tool.ts';

/** What the tool works with. */
export interface InvokeToolDeps {
  readonly serverOf: ReadServerName;
  /** The typed tool behind a server's own tool name, both in any case; undefined when there is none. */
  readonly typed: (server: string, tool: string) => Tool | undefined;
  readonly isVisible: (server: string, tool: string, context: CallContext) => boolean;
  readonly prepareArguments: PrepareArguments;
  /** Runs a server's tool by its target, like a typed tool. */
  readonly downstream: ToolExecutor;
}

/** `mcp_invoke_tool`: runs a server's tool by the server's own name for it. */
export const invokeTool = ({ serverOf, typed, isVisible, prepareArguments, downstream }: InvokeToolDeps): Tool =>
  managementTool({
    name: 'mcp_invoke_tool',
    description:
      "Calls a tool of an MCP server by the server's own name for it; for tools that have no typed name in your list.",
    properties: {
      server_name: serverNameSchema,
      tool_name: { type: 'string', description: "The server's own name of the tool." },
      arguments: { type: 'object', description: "What the tool's schema asks for." },
    },
    required: ['server_name', 'tool_name'],
    // The server's call has a budget of its own.
    timeoutMs: 0,
    execute: async (args, context, call) => {
      const server = serverOf(args, context);
      const tool = textArgument(args, 'tool_name');
      const known = typed(server, tool);
      const registration = known?.registration ?? unlisted(server, tool);
      if (!isVisible(server, tool, context))
        return failedOutcome(
          'tool_not_found',
          `You can call no tool "${tool.slice(0, 100)}" of a server "${server.slice(0, 100)}"; see mcp_list_services.`,
        );
      const given = toInvokeArguments(args, known?.registration.inputSchema);
      const needed = requiredOf(registration);
      if (Object.keys(given).length === 0 && needed.length > 0)
        return failedOutcome('invalid_arguments', emptyCall(server, tool, registration, needed));
      const prepared = known ? await prepareArguments(known, { name: tool, arguments: given }, true) : given;
      return downstream.execute({ ...call, name: registration.name, arguments: prepared, registration }, context);
    },
  });

/** The bridge knows best what to say of a tool that is not in the catalog, and may find that it has come. */
const unlisted = (server: string, tool: string): ToolRegistration =>
  toRegistration({
    name: typedToolName(server, tool),
    description: tool || 'unknown',
    source: `mcp:${server}`,
    target: { server, tool },
  });

const requiredOf = ({ inputSchema }: ToolRegistration): readonly string[] => {
  const { required } = inputSchema;
  return Array.isArray(required) ? required.filter((key) => typeof key === 'string') : [];
};

const emptyCall = (
  server: string,
  tool: string,
  { inputSchema }: ToolRegistration,
  needed: readonly string[],
): string =>
  `Tool "${tool}" of server "${server}" was not called: it needs ${needed.map((key) => `"${key}"`).join(', ')}. ` +
  `Send {"server_name": "${server}", "tool_name": "${tool}", "arguments": ${toSignature(inputSchema)}}`;
