import { GantryError } from '../../../kernel/errors.ts';
import { toSignature } from '../../../schema/signature.ts';
import { cutText } from '../../../text/cut.ts';
import type { CallContext } from '../../../tool/context.ts';
import type { Tool } from '../../../tool/executor.ts';
import type { JsonSchema } from '../../../tool/registration.ts';
import type { CatalogEntry } from '../typed/catalog.ts';
import type { FoundTool, ToolSearch } from '../typed/tool-search.ts';
import { findToolsName } from '../typed/typed-tools.ts';
import { managementTool, textArgument } from './management-tool.ts';

/** What the tool works with. */
export interface FindToolsDeps {
  readonly search: Pick<ToolSearch, 'find'>;
  /** Puts tools into the caller's list where its mode does that; says whether it did. */
  readonly activate: (entries: readonly CatalogEntry[], context: CallContext) => Promise<boolean>;
}

/** Results that show their schema whole; the others have a signature. */
const shownWhole = 3;
const longestSchema = 8_000;
const longestDescription = { whole: 2_000, short: 300 } as const;
const longestQuery = 2_000;
/** How many results there can be, by `limit`. */
export const findLimits = { usual: 10, most: 25 } as const;

/** `mcp_find_tools`: searches the tools and prompts of all servers, and puts what fits into the caller's list. */
export const findTools = ({ search, activate }: FindToolsDeps): Tool =>
  managementTool({
    name: findToolsName,
    description:
      'Searches the tools of all MCP servers by what they do, and makes the ones found callable by name. Best first, with parameters.',
    properties: {
      query: { type: 'string', description: 'What you want to do, or the name of a tool.' },
      limit: {
        type: ['integer', 'string'],
        description: `How many, 1 to ${findLimits.most}; default ${findLimits.usual}.`,
      },
    },
    required: ['query'],
    annotations: { readOnlyHint: true },
    execute: async (args, context) => {
      const query = textArgument(args, 'query');
      if (query === '')
        throw new GantryError(
          'invalid_arguments',
          `Tool "${findToolsName}" was not called: "query" must be a text that is not blank.`,
        );
      if (query.length > longestQuery)
        throw new GantryError(
          'invalid_arguments',
          `Tool "${findToolsName}" was not called: "query" has ${query.length} characters, and ${longestQuery} are the most; say in a few words what you want to do.`,
        );
      const limit = toLimit(args['limit']);
      const [tools, prompts] = await Promise.all([
        search.find('tool', query, limit, context),
        search.find('prompt', query, limit, context),
      ]);
      const found = [...tools, ...prompts].map(({ entry }) => entry);
      const activated = await activate(found, context);
      return {
        value: {
          query,
          tools: tools.map(({ entry }, rank) => ({
            ...toShown(entry, rank),
            serverId: entry.serverId,
            tool: entry.name,
            activated,
          })),
          ...(prompts.length > 0 && {
            prompts: prompts.map(({ entry }, rank) => ({ ...toShown(entry, rank), prompt: entry.name, activated })),
          }),
          note: noteOn(found.length, activated),
        },
      };
    },
  });

/** How many results are meant: whole numbers within the bounds, also as text; anything else is the usual number. */
export const toLimit = (value: unknown): number => {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isFinite(number)) return findLimits.usual;
  return Math.min(Math.max(Math.trunc(number), 1), findLimits.most);
};

/** A found tool: the best with their schemas, as far as these are of a reasonable size, the others with a signature. */
const toShown = ({ typedName, server, description, tool }: FoundTool['entry'], rank: number): object => {
  const { inputSchema } = tool.registration;
  const isWhole = rank < shownWhole && JSON.stringify(inputSchema).length <= longestSchema;
  return {
    name: typedName,
    server,
    description: shortened(description, isWhole ? longestDescription.whole : longestDescription.short),
    ...parametersOf(inputSchema, isWhole),
  };
};

const parametersOf = (inputSchema: JsonSchema, isWhole: boolean): object =>
  isWhole ? { inputSchema } : { signature: toSignature(inputSchema) };

const shortened = (text: string, maxChars: number): string =>
  text.length <= maxChars ? text : `${cutText(text, maxChars - 1).trimEnd()}…`;

const noteOn = (count: number, activated: boolean): string => {
  if (count === 0) return 'Nothing fits. Try other words, or look at the servers with mcp_list_services.';
  return activated
    ? 'You can call these by name now. Those without a schema show a signature; mcp_get_service_details tells all.'
    : "Nothing was added to your tool list. Call one that is not in it with mcp_invoke_tool (a prompt with mcp_get_prompt), with its server and the server's own name for it.";
};
