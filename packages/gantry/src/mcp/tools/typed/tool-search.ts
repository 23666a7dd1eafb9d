import type { ToolMatch } from '../../../search/tool-index.ts';
import { createToolIndex } from '../../../search/tool-index.ts';
import type { CallContext } from '../../../tool/context.ts';
import type { FitTool } from '../../../tool/typed-tools.ts';
import type { Catalog, CatalogEntry } from './catalog.ts';

/** An entry that fits a query; scores compare only within one answer. */
export interface FoundTool {
  readonly entry: CatalogEntry;
  readonly score: number;
}

/** Finds tools and prompts of servers by what they do. One index serves every session. */
export interface ToolSearch extends Disposable {
  /** Those that this caller may have, best first; tools and prompts are asked for separately. */
  find(kind: 'tool' | 'prompt', query: string, limit: number, context: CallContext): readonly FoundTool[];
  /** A server's tools that fit the query best; its first ones when none fits. */
  topOf(server: string, query: string, limit: number, context: CallContext): readonly CatalogEntry[];
}

/** What fits a hundred times worse than the best shares no more than a common word with the query. */
const worthTelling = 0.01;

/** Makes the search over a catalog and keeps it up with it, by difference. */
export const createToolSearch = (catalog: Catalog, fit: FitTool): ToolSearch => {
  const index = createToolIndex();
  const stop = catalog.onChange(({ removed, added }) => {
    index.remove(removed.map(({ typedName }) => typedName));
    index.upsert(added.map(({ search }) => search));
  });

  const search = (
    query: string,
    limit: number,
    context: CallContext,
    where: (entry: CatalogEntry) => boolean,
  ): FoundTool[] => {
    const entryOf = ({ entry }: Pick<ToolMatch, 'entry'>): CatalogEntry | undefined => catalog.get(entry.id);
    const matches = index.search(query, limit, {
      where: (candidate) => {
        const entry = entryOf({ entry: candidate });
        return entry !== undefined && where(entry) && fit(entry.tool.registration, context) !== undefined;
      },
    });
    const isExact = ({ name, typedName }: ToolMatch['entry']): boolean =>
      [name, typedName].some((known) => known.toLowerCase() === query.trim().toLowerCase());
    // A tool that was named outright is far ahead of what only fits, so it is no measure for the others.
    const best = matches.find((match) => !isExact(match.entry))?.score ?? 0;
    return matches.flatMap((match) => {
      const entry = match.score >= best * worthTelling ? entryOf(match) : undefined;
      return entry ? [{ entry, score: match.score }] : [];
    });
  };

  return {
    find: (kind, query, limit, context) => search(query, limit, context, (entry) => entry.kind === kind),
    topOf: (server, query, limit, context) => {
      const tools = new Set(
        catalog.ofServer(server).filter(({ kind, tool }) => kind === 'tool' && fit(tool.registration, context)),
      );
      const found = search(query, limit, context, (entry) => tools.has(entry));
      return found.length > 0 ? found.map(({ entry }) => entry) : [...tools].slice(0, limit);
    },
    [Symbol.dispose]: stop,
  };
};
