import type { CallContext } from '../../../tool/context.ts';
import type { FitTool } from '../../../tool/typed-tools.ts';
import type { ServerSummary } from '../../wire/index-message.ts';
import type { KnowsServer } from '../knows-server.ts';
import type { ServerIndex } from '../server-index.ts';
import type { Catalog, CatalogEntry } from '../typed/catalog.ts';
import { unlisted } from './unlisted.ts';

/** What callers may know of servers; whatever names one asks here. */
export interface Visibility {
  /** A server all of whose tools and prompts are closed to this caller does not exist for it. */
  seesServer(server: string, context: CallContext): boolean;
  /** False for a tool or prompt of a server that this caller may not have; names are in any case. */
  isVisible(server: string, kind: CatalogEntry['kind'], name: string, context: CallContext): boolean;
  /** What a server offers under that name, in any case. */
  entryOf(server: string, kind: CatalogEntry['kind'], name: string): CatalogEntry | undefined;
  mayHave(entry: CatalogEntry, context: CallContext): boolean;
  /** The connected servers as this caller may know them: with the names of what it may have, and no words on the rest. */
  servers(context: CallContext): readonly ServerSummary[];
}

/** Makes it. */
export const createVisibility = ({
  index,
  catalog,
  fit,
  knows,
}: {
  readonly index: Pick<ServerIndex, 'list'>;
  readonly catalog: Pick<Catalog, 'ofServer'>;
  readonly fit: FitTool;
  readonly knows: KnowsServer;
}): Visibility => {
  const entryOf: Visibility['entryOf'] = (server, kind, name) => {
    const offered = catalog.ofServer(server).filter((entry) => entry.kind === kind);
    const folded = name.toLowerCase();
    return offered.find((entry) => entry.name === name) ?? offered.find((entry) => entry.name.toLowerCase() === folded);
  };
  const mayHave: Visibility['mayHave'] = ({ tool }, context) => fit(tool.registration, context) !== undefined;
  const seesServer: Visibility['seesServer'] = (server, context) => {
    if (!knows(context, server)) return false;
    const offered = catalog.ofServer(server);
    return offered.length === 0 || offered.some((entry) => mayHave(entry, context));
  };
  // Rules go by the name as the server writes it, not by that of the one who asks.
  const writtenName = (server: string): string =>
    index.list().find(({ serverName }) => serverName.toLowerCase() === server.toLowerCase())?.serverName ?? server;
  // What is not in the catalog may have come since, or all of it is yet to come. Its name decides, and only who may have all the others of a
  // server may ask for it.
  const isVisible: Visibility['isVisible'] = (server, kind, name, context) => {
    const entry = entryOf(server, kind, name);
    if (entry) return mayHave(entry, context);
    return (
      knows(context, server) &&
      fit(unlisted(writtenName(server), kind, name), context) !== undefined &&
      catalog.ofServer(server).every((other) => mayHave(other, context))
    );
  };
  const visiblePart = (server: ServerSummary, context: CallContext): ServerSummary => {
    const { serverName } = server;
    const toolNames = server.toolNames.filter((name) => isVisible(serverName, 'tool', name, context));
    const promptNames = server.promptNames.filter((name) => isVisible(serverName, 'prompt', name, context));
    if (toolNames.length === server.toolNames.length && promptNames.length === server.promptNames.length) return server;
    // The sentence on a server is about all that it has.
    const [toolCount, promptCount] = [toolNames.length, promptNames.length];
    return { ...server, toolNames, promptNames, toolCount, promptCount, summary: '' };
  };
  return {
    seesServer,
    isVisible,
    entryOf,
    mayHave,
    servers: (context) =>
      index
        .list()
        .filter(({ serverName }) => seesServer(serverName, context))
        .map((server) => visiblePart(server, context)),
  };
};
