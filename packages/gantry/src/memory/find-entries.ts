import { rankDocuments } from '../search/bm25.ts';
import { foldText } from '../search/tokens.ts';
import { foldKey, isBelow } from './memory-key.ts';
import type { MemoryEntry } from './working-memory.ts';

/** What to look for; all that is given must fit. */
export interface MemoryQuery {
  /** Words; blank means no ranking. */
  readonly query?: string | undefined;
  /** A category or what lies below it: `mail` takes in `mail/inbox`. */
  readonly category?: string | undefined;
  /** All of them, without regard to case. */
  readonly tags?: readonly string[] | undefined;
}

/** The entries that fit: best first when there are words to rank by, else in the given order. */
export const findEntries = (entries: readonly MemoryEntry[], wanted: MemoryQuery): MemoryEntry[] => {
  const fitting = entries.filter((entry) => isInCategory(entry, wanted.category) && hasTags(entry, wanted.tags ?? []));
  const query = wanted.query?.trim() ?? '';
  if (query === '') return fitting;
  const ranked = rankDocuments(fitting, searchedText, query).map(({ item }) => item);
  if (ranked.length > 0) return ranked;
  // Ranking passes over words of one or two letters; "Q3" is worth finding all the same.
  const folded = foldText(query);
  return fitting.filter((entry) => foldText(searchedText(entry)).includes(folded));
};

const searchedText = ({ key, category, tags, text }: MemoryEntry): string =>
  [key, category, ...(tags ?? []), text].filter((part) => part !== undefined).join('\n');

const isInCategory = ({ category }: MemoryEntry, wanted: string | undefined): boolean => {
  if (wanted === undefined || foldKey(wanted) === '') return true;
  return category !== undefined && (foldKey(category) === foldKey(wanted) || isBelow(category, wanted));
};

const hasTags = ({ tags = [] }: MemoryEntry, wanted: readonly string[]): boolean => {
  const present = new Set(tags.map(foldTag));
  return wanted.every((tag) => present.has(foldTag(tag)));
};

const foldTag = (tag: string): string => tag.trim().toLowerCase();
