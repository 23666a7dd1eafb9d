import type { FusedEntry } from '../../../search/fuse-ranks.ts';
import { fuseRanks } from '../../../search/fuse-ranks.ts';
import type { ToolEntry } from '../../../search/tool-fields.ts';
import type { ToolMatch } from '../../../search/tool-index.ts';
import { createToolIndex } from '../../../search/tool-index.ts';
import type { CallContext } from '../../../tool/context.ts';
import type { FitTool } from '../../../tool/typed-tools.ts';
import type { Catalog, CatalogEntry } from './catalog.ts';
import type { ToolMeaning } from './tool-meaning.ts';

/** An entry that fits a query; scores compare only within one answer. */
export interface FoundTool {
  readonly entry: CatalogEntry;
  readonly score: number;
}

/** Finds tools and prompts of servers by what they do. One index serves every session. */
export interface ToolSearch extends Disposable {
  /**
   * Those that this caller may have, best first; tools and prompts are asked for separately. By words, and by meaning where an embedding model
   * is there and answers. One whose name is the whole query comes first in any case.
   */
  find(kind: 'tool' | 'prompt', query: string, limit: number, context: CallContext): Promise<readonly FoundTool[]>;
  /** A server's tools that fit the query best by words; its first ones when none fits. */
  topOf(server: string, query: string, limit: number, context: CallContext): readonly CatalogEntry[];
}

/** What fits a hundred times worse than the best shares no more than a common word with the query. */
const worthTelling = 0.01;
/** How many places by words count when meaning has a say. */
const fusedMost = 50;
/** Above what places can add up to. */
const exactNameBonus = 1;

/** Makes the search over a catalog and keeps it up with it, by difference. */
export const createToolSearch = (catalog: Catalog, fit: FitTool, meaning?: ToolMeaning): ToolSearch => {
  const index = createToolIndex();
  const stop = catalog.onChange(({ removed, added }) => {
    index.remove(removed.map(({ typedName }) => typedName));
    index.upsert(added.map(({ search }) => search));
  });

  const byWords = (query: string, limit: number, where: (id: string) => boolean): ToolMatch[] => {
    const matches = index.search(query, limit, { where: ({ id }) => where(id) });
    // A tool that was named outright is far ahead of what only fits, so it is no measure for the others.
    const best = matches.find(({ entry }) => !isNamed(entry, query))?.score ?? 0;
    return matches.filter(({ score }) => score >= best * worthTelling);
  };

  return {
    find: async (kind, query, limit, context) => {
      const where = (id: string): boolean => {
        const entry = catalog.get(id);
        return entry?.kind === kind && fit(entry.tool.registration, context) !== undefined;
      };
      const near = await meaning?.rank(query, where);
      // Only now, for the catalog may have changed meanwhile.
      const matches = byWords(query, near ? Math.max(limit, fusedMost) : limit, where);
      const ranked =
        near && meaning
          ? fused(query, matches, near, meaning.knows)
          : matches.map(({ entry: { id }, score }) => ({ id, score }));
      return ranked.slice(0, limit).flatMap(({ id, score }) => {
        const entry = catalog.get(id);
        return entry ? [{ entry, score }] : [];
      });
    },
    topOf: (server, query, limit, context) => {
      const tools = catalog
        .ofServer(server)
        .filter(({ kind, tool }) => kind === 'tool' && fit(tool.registration, context));
      const names = new Set(tools.map(({ typedName }) => typedName));
      const found = byWords(query, limit, (id) => names.has(id)).flatMap(({ entry }) => catalog.get(entry.id) ?? []);
      return found.length > 0 ? found : tools.slice(0, limit);
    },
    [Symbol.dispose]: stop,
  };
};

const fused = (
  query: string,
  matches: readonly ToolMatch[],
  near: readonly string[],
  hasVector: (id: string) => boolean,
): readonly FusedEntry[] => {
  const named = new Set(matches.filter(({ entry }) => isNamed(entry, query)).map(({ entry }) => entry.id));
  const ids = matches.map(({ entry }) => entry.id);
  return fuseRanks(ids, near, hasVector)
    .map(({ id, score }) => ({ id, score: named.has(id) ? score + exactNameBonus : score }))
    .sort((a, b) => b.score - a.score);
};

const isNamed = ({ name, typedName }: ToolEntry, query: string): boolean =>
  [name, typedName].some((known) => known.toLowerCase() === query.trim().toLowerCase());
