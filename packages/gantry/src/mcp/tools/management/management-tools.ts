import type { PrepareArguments } from '../../../invoke/prepare-arguments.ts';
import { GantryError, messageOf } from '../../../kernel/errors.ts';
import type { CallContext } from '../../../tool/context.ts';
import type { Tool, ToolExecutor } from '../../../tool/executor.ts';
import { failedOutcome } from '../../../tool/outcome.ts';
import type { TypedTools } from '../../../tool/typed-tools.ts';
import { unknownServerText } from '../../wire/unknown-server.ts';
import type { ManageClient } from '../manage-client.ts';
import type { CatalogEntry } from '../typed/catalog.ts';
import type { SimilarTools } from '../typed/similar-tools.ts';
import type { Surfaces } from '../typed/surfaces.ts';
import type { ToolSearch } from '../typed/tool-search.ts';
import { toActivation } from '../typed/typed-tools.ts';
import { findTools } from './find-tools.ts';
import { getPrompt } from './get-prompt.ts';
import type { ReadServerName } from './management-tool.ts';
import { textArgument } from './management-tool.ts';
import { invokeTool } from './invoke-tool.ts';
import { listServices } from './list-services.ts';
import { ownServers } from './own-servers.ts';
import { resourceTools } from './resources.ts';
import { serviceDetails } from './service-details.ts';
import type { Visibility } from './visibility.ts';

/** What the management tools work with. */
export interface ManagementDeps {
  readonly visibility: Visibility;
  readonly search: ToolSearch;
  readonly similar: SimilarTools;
  readonly surfaces: Surfaces;
  readonly typed: Pick<TypedTools, 'get'>;
  readonly manage: ManageClient;
  readonly prepareArguments: PrepareArguments;
  readonly downstream: ToolExecutor;
}

/** The tools through which a caller learns of servers and reaches them, whatever the mode. */
export const managementTools = (deps: ManagementDeps): readonly Tool[] => {
  const { visibility, search, similar, surfaces, typed, manage, prepareArguments, downstream } = deps;
  const { entryOf, mayHave, seesServer, isVisible } = visibility;

  const noServer = (name: string, context: CallContext): GantryError => {
    const names = visibility.servers(context).map(({ serverName }) => serverName);
    const known =
      names.length > 0 ? `Connected servers: ${names.join(', ')}; see mcp_list_services.` : 'No servers are connected.';
    return new GantryError('server_unknown', `${unknownServerText(name)} ${known}`, { details: { name } });
  };
  /** What the bridge says of a name that it does not know reads as what is said of a server that this caller may not know of. */
  const tellingServers = ({ registration, executor }: Tool): Tool => ({
    registration,
    executor: {
      ...executor,
      execute: async (call, context) => {
        const name = textArgument(call.arguments, 'server_name').toLowerCase();
        try {
          const outcome = await executor.execute(call, context);
          const isUnknown = outcome.status === 'failed' && outcome.failure.message.startsWith(unknownServerText(name));
          return isUnknown ? failedOutcome('tool_not_found', noServer(name, context).message) : outcome;
        } catch (error) {
          throw messageOf(error).endsWith(unknownServerText(name)) ? noServer(name, context) : error;
        }
      },
    },
  });
  const serverOf: ReadServerName = (args, context) => {
    const name = textArgument(args, 'server_name').toLowerCase();
    if (seesServer(name, context)) return name;
    throw noServer(name, context);
  };
  const activate = (entries: readonly CatalogEntry[], context: CallContext): Promise<boolean> =>
    surfaces.activate(context, entries.map(toActivation));

  const tools = [
    listServices(visibility.servers),
    serviceDetails({
      serverOf,
      details: manage.details,
      callable: (server, kind, name, context) => {
        const entry = entryOf(server, kind, name);
        return entry && mayHave(entry, context) && typed.get(entry.typedName, context) ? entry : undefined;
      },
      isVisible,
      activate,
    }),
    invokeTool({
      serverOf,
      typed: (server, tool) => entryOf(server, 'tool', tool)?.tool,
      isVisible,
      similar,
      prepareArguments,
      downstream,
    }),
    ...ownServers(manage, serverOf),
    getPrompt(manage, serverOf, isVisible),
    ...resourceTools(manage, serverOf),
    findTools({
      search: {
        find: async (kind, query, limit, context) => {
          const found = await search.find(kind, query, limit, context);
          return found.filter(({ entry }) => kind === 'tool' || typed.get(entry.typedName, context));
        },
      },
      activate,
    }),
  ];
  return tools.map(tellingServers);
};
