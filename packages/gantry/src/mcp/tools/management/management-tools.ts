import type { PrepareArguments } from '../../../invoke/prepare-arguments.ts';
import { GantryError } from '../../../kernel/errors.ts';
import type { CallContext } from '../../../tool/context.ts';
import type { Tool, ToolExecutor } from '../../../tool/executor.ts';
import type { FitTool, TypedTools } from '../../../tool/typed-tools.ts';
import type { ManageClient } from '../manage-client.ts';
import type { ServerIndex } from '../server-index.ts';
import type { Catalog, CatalogEntry } from '../typed/catalog.ts';
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

/** What the management tools work with. */
export interface ManagementDeps {
  readonly index: ServerIndex;
  readonly catalog: Catalog;
  readonly search: ToolSearch;
  readonly similar: SimilarTools;
  readonly surfaces: Surfaces;
  readonly typed: Pick<TypedTools, 'get'>;
  readonly manage: ManageClient;
  readonly fit: FitTool;
  readonly prepareArguments: PrepareArguments;
  readonly downstream: ToolExecutor;
}

/** The tools through which a caller learns of servers and reaches them, whatever the mode. */
export const managementTools = (deps: ManagementDeps): readonly Tool[] => {
  const { index, catalog, search, similar, surfaces, typed, manage, fit, prepareArguments, downstream } = deps;

  const entryOf = (server: string, kind: CatalogEntry['kind'], name: string): CatalogEntry | undefined => {
    const offered = catalog.ofServer(server).filter((entry) => entry.kind === kind);
    const folded = name.toLowerCase();
    return offered.find((entry) => entry.name === name) ?? offered.find((entry) => entry.name.toLowerCase() === folded);
  };
  const mayHave = ({ tool }: CatalogEntry, context: CallContext): boolean =>
    fit(tool.registration, context) !== undefined;
  // A server all of whose tools are closed to this caller does not exist for it.
  const seesServer = (server: string, context: CallContext): boolean => {
    const offered = catalog.ofServer(server);
    return offered.length === 0 || offered.some((entry) => mayHave(entry, context));
  };
  const serverOf: ReadServerName = (args, context) => {
    const name = textArgument(args, 'server_name').toLowerCase();
    if (seesServer(name, context)) return name;
    throw new GantryError('server_unknown', `There is no server "${name.slice(0, 100)}"; see mcp_list_services.`, {
      details: { name },
    });
  };
  const isVisible = (server: string, tool: string, context: CallContext): boolean => {
    const entry = entryOf(server, 'tool', tool);
    return entry ? mayHave(entry, context) : seesServer(server, context);
  };
  const activate = (entries: readonly CatalogEntry[], context: CallContext): Promise<boolean> =>
    surfaces.activate(context, entries.map(toActivation));

  return [
    listServices((context) => index.list().filter(({ serverName }) => seesServer(serverName, context))),
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
    getPrompt(manage, serverOf),
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
};
