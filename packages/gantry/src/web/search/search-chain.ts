import { throwIfAborted } from '../../kernel/abort.ts';
import { GantryError, messageOf } from '../../kernel/errors.ts';
import type { Log } from '../../kernel/log.ts';
import type { SearchAnswer, SearchCategory, SearchEngine, SearchRequest } from './search-engine.ts';
import { searchCategories } from './search-engine.ts';

/** Engines behind one door, tried in a fixed order. */
export interface SearchChain {
  /** What can be searched for now, in a workspace. */
  readonly categories: (workspace?: string) => readonly SearchCategory[];
  /**
   * The answer of the first engine that has one; nothing found is one.
   *
   * @param onEngine is told each engine that is about to be asked.
   * @throws {GantryError} `execution_failed` naming every engine's problem when none answered.
   */
  search(request: SearchRequest, onEngine?: (engine: string) => void): Promise<SearchAnswer>;
}

/** Makes a chain; the first engines are the ones to prefer. */
export const createSearchChain = (engines: readonly SearchEngine[], log: Log): SearchChain => ({
  categories: (workspace) => {
    const up = engines.filter((engine) => engine.isUp(workspace));
    return searchCategories.filter((category) => up.some((engine) => engine.categories.has(category)));
  },
  search: async (request, onEngine) => {
    const problems: string[] = [];
    let last: unknown;
    for (const engine of engines) {
      if (!engine.categories.has(request.category)) continue;
      if (!(engine.checkUp ? await engine.checkUp(request) : engine.isUp(request.workspace))) continue;
      throwIfAborted(request.signal);
      onEngine?.(engine.name);
      try {
        return await engine.search(request);
      } catch (error) {
        throwIfAborted(request.signal);
        log.warn({ engine: engine.name, reason: messageOf(error) }, 'a search engine failed; the next one is tried');
        problems.push(withName(engine.name, messageOf(error)));
        last = error;
      }
    }
    if (problems.length === 0)
      throw new GantryError(
        'execution_failed',
        `Search failed: the category "${request.category}" is not available now, as no engine for it is; search for "text" instead.`,
        { details: { category: request.category } },
      );
    throw new GantryError(
      'execution_failed',
      `Search failed, which does not mean that there is nothing to find. ${problems.join(' ')} Wait a few seconds and search again, or read a page whose URL you know with web_browse.`,
      { retry: 'later', cause: last },
    );
  },
});

const withName = (engine: string, problem: string): string =>
  problem.startsWith(`${engine}:`) ? problem : `${engine}: ${problem}`;
