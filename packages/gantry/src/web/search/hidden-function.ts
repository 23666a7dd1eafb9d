import { engineError } from './answer-json.ts';
import type { SearchEngine } from './search-engine.ts';

/** A search function of an MCP server that is called for others and not offered to models (IAsk, Felo). */
export interface HiddenFunction {
  /** Whether the function is there now. */
  isRegistered(): boolean;
  /** Asks it; the answer is a text with its sources in it. */
  ask(query: string, signal: AbortSignal | undefined): Promise<string>;
}

/** The last resort: an answering service behind a hidden function. Texts only. */
export const hiddenFunctionEngine = (name: string, { isRegistered, ask }: HiddenFunction): SearchEngine => ({
  name,
  categories: new Set(['text']),
  isUp: isRegistered,
  search: async ({ query, signal }) => {
    const answer = (await ask(query, signal)).trim();
    if (answer === '') throw engineError(name, 'the answer is empty');
    return { hits: [], answer };
  },
});
