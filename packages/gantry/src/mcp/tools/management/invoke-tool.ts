import type { PrepareArguments } from '../../../invoke/prepare-arguments.ts';
import type { Tool, ToolExecutor } from '../../../tool/executor.ts';
import type { Outcome } from '../../../tool/outcome.ts';
import { failedOutcome } from '../../../tool/outcome.ts';
import type { ToolRegistration } from '../../../tool/registration.ts';
import type { CatalogEntry } from '../typed/catalog.ts';
import { isSame } from '../typed/similar-tools.ts';
import type { SimilarTools } from '../typed/similar-tools.ts';
import { toInvokeArguments } from './invoke-arguments.ts';
import { entryCallText, invokeCallText } from './invoke-call-text.ts';
import type { ReadServerName } from './management-tool.ts';
import { managementTool, serverNameSchema, textArgument } from './management-tool.ts';
import { unlisted } from './unlisted.ts';
import type { Visibility } from './visibility.ts';

/** What the tool works with. */
export interface InvokeToolDeps {
  readonly serverOf: ReadServerName;
  /** The typed tool behind a server's own tool name, both in any case; undefined when there is none. */
  readonly typed: (server: string, tool: string) => Tool | undefined;
  readonly isVisible: Visibility['isVisible'];
  readonly similar: SimilarTools;
  readonly prepareArguments: PrepareArguments;
  /** Runs a server's tool by its target, like a typed tool. */
  readonly downstream: ToolExecutor;
}

/** `mcp_invoke_tool`: runs a server's tool by the server's own name for it. */
export const invokeTool = ({
  serverOf,
  typed,
  isVisible,
  similar,
  prepareArguments,
  downstream,
}: InvokeToolDeps): Tool =>
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
      const registration = known?.registration ?? unlisted(server, 'tool', tool);
      if (!isVisible(server, 'tool', tool, context))
        return failedOutcome(
          'tool_not_found',
          `You can call no tool "${tool.slice(0, 100)}" of a server "${server.slice(0, 100)}"; see mcp_list_services.`,
        );
      const given = toInvokeArguments(args, known?.registration.inputSchema);
      const needed = requiredOf(registration);
      if (Object.keys(given).length === 0 && needed.length > 0)
        return failedOutcome('invalid_arguments', emptyCall(server, tool, registration, needed));
      const prepared = known ? await prepareArguments(known, { name: tool, arguments: given }, true) : given;
      const ready = { ...call, name: registration.name, arguments: prepared, registration };
      const outcome = await downstream.execute(ready, context);
      return known ? outcome : withHint(outcome, elsewhere(server, tool, similar({ server, tool }, context)));
    },
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
  `Send ${invokeCallText(server, tool, inputSchema)}`;

/** Where a tool is that a server does not have: on another one, or under a near name. */
const elsewhere = (server: string, tool: string, found: readonly CatalogEntry[]): string | undefined => {
  const [best] = found;
  if (!best) return undefined;
  const having = found.filter(({ name }) => name === best.name).map((entry) => `"${entry.server}"`);
  const has = `${having.length > 1 ? 'Servers' : 'Server'} ${having.join(' and ')} ${having.length > 1 ? 'have' : 'has'}`;
  // Of the server's own tools the bridge has said what is near.
  if (!isSame(best.name, tool) && best.server.toLowerCase() === server) return undefined;
  return `${has} a tool "${best.name}". Send ${entryCallText(best)}`;
};

const withHint = (outcome: Outcome, hint: string | undefined): Outcome => {
  if (hint === undefined || outcome.status !== 'failed' || outcome.failure.code !== 'tool_not_found') return outcome;
  return { status: 'failed', failure: { ...outcome.failure, message: `${outcome.failure.message} ${hint}` } };
};
