import type { CallContext } from '../../../tool/context.ts';
import type { Tool } from '../../../tool/executor.ts';
import { failedOutcome } from '../../../tool/outcome.ts';
import { capInstructions, instructionsCap, isGuideLike } from '../../wire/instructions-cap.ts';
import type { DownstreamPrompt, DownstreamTool, ServiceDetails } from '../../wire/manage-messages.ts';
import type { CatalogEntry } from '../typed/catalog.ts';
import type { ReadServerName } from './management-tool.ts';
import { managementTool, serverNameSchema, textArgument } from './management-tool.ts';
import type { Visibility } from './visibility.ts';

/** What the tool works with. */
export interface ServiceDetailsDeps {
  readonly serverOf: ReadServerName;
  readonly details: (server: string, tool?: string) => Promise<ServiceDetails>;
  /** The typed name of a tool or prompt that this caller can call now; undefined when it has none. */
  readonly callable: (
    server: string,
    kind: CatalogEntry['kind'],
    name: string,
    context: CallContext,
  ) => CatalogEntry | undefined;
  readonly isVisible: Visibility['isVisible'];
  /** Puts tools into the caller's list where its mode does that; says whether it did. */
  readonly activate: (entries: readonly CatalogEntry[], context: CallContext) => Promise<boolean>;
}

/** `mcp_get_service_details`: a server's identity, tools and prompts; opens the tools for the caller's session. */
export const serviceDetails = ({ serverOf, details, callable, isVisible, activate }: ServiceDetailsDeps): Tool =>
  managementTool({
    name: 'mcp_get_service_details',
    description:
      'Shows one MCP server: identity, instructions, and its tools and prompts with their parameters; with tool_name only that tool.',
    properties: {
      server_name: serverNameSchema,
      tool_name: { type: 'string', description: "The server's own name of one tool." },
    },
    required: ['server_name'],
    annotations: { readOnlyHint: true },
    execute: async (args, context) => {
      const wanted = textArgument(args, 'tool_name') || undefined;
      const asked = serverOf(args, context);
      if (wanted !== undefined && !isVisible(asked, 'tool', wanted, context))
        return failedOutcome(
          'tool_not_found',
          `You can see no tool "${wanted.slice(0, 100)}" of a server "${asked.slice(0, 100)}"; leave tool_name out to see what there is.`,
        );
      const found = await details(asked, wanted);
      const server = found.server.name;
      const tools = found.tools.filter(({ name }) => isVisible(server, 'tool', name, context));
      const prompts = found.prompts.filter(({ name }) => isVisible(server, 'prompt', name, context));
      const entries = tools.flatMap(({ name }) => callable(server, 'tool', name, context) ?? []);
      const isActive = await activate(entries, context);
      const guides = tools
        .filter(({ name }) => isGuideLike(name))
        .map(({ name }) => {
          const typed = callable(server, 'tool', name, context)?.typedName;
          return typed ?? `${name} (through mcp_invoke_tool)`;
        });
      return {
        value: {
          server: {
            ...found.server,
            instructions: capInstructions(found.server.instructions, instructionsCap.details, guides),
          },
          tools: tools.map(toShownTool),
          prompts: prompts.map((prompt) => toShownPrompt(prompt, callable(server, 'prompt', prompt.name, context))),
        },
        notes: [...resourceNote(found), ...callNote(entries, isActive)],
      };
    },
  });

const toShownTool = ({ name, description, inputSchema }: DownstreamTool): object => ({
  name,
  description,
  parametersSchema: JSON.stringify(inputSchema),
});

const toShownPrompt = (
  { name, description, arguments: args }: DownstreamPrompt,
  entry: CatalogEntry | undefined,
): object => ({
  name,
  description,
  arguments: args,
  typedName: entry?.typedName,
});

const resourceNote = ({ resourceCount, resourceTemplateCount }: ServiceDetails): string[] => {
  if (!resourceCount && !resourceTemplateCount) return [];
  return [`It has ${resourceCount} resource(s) and ${resourceTemplateCount} resource template(s): mcp_list_resources.`];
};

const namesShown = 40;

const callNote = (entries: readonly CatalogEntry[], isActive: boolean): string[] => {
  if (entries.length === 0) return [];
  const names = entries.slice(0, namesShown).map(({ typedName }) => typedName);
  const more = entries.length > namesShown ? ` and ${entries.length - namesShown} more` : '';
  return isActive
    ? [`You can call these by name now: ${names.join(', ')}${more}.`]
    : [`Typed names: ${names.join(', ')}${more}. One that is not in your tool list is called with mcp_invoke_tool.`];
};
