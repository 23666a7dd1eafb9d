import { toCues } from './query-cues.ts';
import { toStem } from './stem.ts';
import { commonWords, stopWords } from './stop-words.ts';
import { toNameWords } from './tokens.ts';

/** A query as the index reads it. */
export interface ParsedQuery {
  /** Distinct stems with how much each counts (0–1). */
  readonly weights: ReadonlyMap<string, number>;
  /** The stems in the order of the query, without stop words: neighbours make phrases. */
  readonly sequence: readonly string[];
}

// A request is understood from its beginning; a pasted page must not cost a page's worth of look-ups.
const mostWords = 100;
const commonWeight = 0.8;
const cueWeight = 0.3;

/**
 * Reads a query: stop words go unless there is nothing else or `keepsAll` says so, common words count less, its form adds a few words.
 */
export const parseQuery = (query: string, { keepsAll = false }: { readonly keepsAll?: boolean } = {}): ParsedQuery => {
  const words = toNameWords(query).slice(0, mostWords);
  const telling = keepsAll ? words : words.filter((word) => !stopWords.has(word));
  const weights = new Map<string, number>();
  const sequence: string[] = [];
  for (const word of telling.length > 0 ? telling : words) {
    const stem = toStem(word);
    sequence.push(stem);
    weights.set(stem, Math.max(weights.get(stem) ?? 0, commonWords.has(word) ? commonWeight : 1));
  }
  if (telling.length > 0)
    for (const cue of toCues(query)) {
      const stem = toStem(cue);
      if (!weights.has(stem)) weights.set(stem, cueWeight);
    }
  return { weights, sequence };
};
