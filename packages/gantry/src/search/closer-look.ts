import type { FieldIndex, IndexedDocument } from './field-index.ts';
import type { GivenValues } from './given-values.ts';
import type { ParsedQuery } from './parse-query.ts';
import type { Thesaurus } from './thesaurus.ts';
import type { ToolEntry } from './tool-fields.ts';
import { fieldAt } from './tool-fields.ts';
import { valueFit } from './value-fit.ts';
import { toWantedValues } from './wanted-values.ts';

// How much each finding adds to a score, as a share of it.
const phraseWeight = 0.2;
const nameWeight = 0.3;
const descriptionWeight = 0.45;
// The first sentence says what a tool is for; later ones say how.
const firstWords = 12;
// Fields in which words that stand side by side belong together.
const phraseFields = [fieldAt.name, fieldAt.title, fieldAt.description];

/** A score that was put right by a closer look, which is too dear for every entry of an index. */
export type CloserLook = (
  document: IndexedDocument<ToolEntry>,
  score: number,
  query: ParsedQuery,
  values: GivenValues,
) => number;

/**
 * Looks at what the words of a query alone do not tell: whether neighbours stand together, how much of a name and of the beginning of a
 * description the query speaks of, and whether its values go with the arguments.
 */
export const createCloserLook = (index: Pick<FieldIndex<ToolEntry>, 'rarity'>, thesaurus: Thesaurus): CloserLook => {
  const wanted = new WeakMap<ToolEntry, ReturnType<typeof toWantedValues>>();
  const wantedOf = (entry: ToolEntry): ReturnType<typeof toWantedValues> => {
    if (!wanted.has(entry)) wanted.set(entry, toWantedValues(entry.inputSchema));
    return wanted.get(entry);
  };

  const isRelated = (stem: string, weights: ReadonlyMap<string, number>): boolean => {
    for (const related of thesaurus.get(stem)?.keys() ?? []) if (weights.has(related)) return true;
    return false;
  };

  /** How much of what the stems say, rare ones saying more, the query says too: 0 to 1. */
  const shareMet = (stems: Iterable<string>, { weights }: ParsedQuery): number => {
    let met = 0;
    let all = 0;
    for (const stem of new Set(stems)) {
      const rarity = index.rarity(stem);
      all += rarity;
      if (weights.has(stem)) met += rarity;
      else if (isRelated(stem, weights)) met += rarity / 2;
    }
    return all > 0 ? met / all : 0;
  };

  return (document, score, query, values) => {
    let phrases = 0;
    for (let at = 0; at + 1 < query.sequence.length; at += 1) {
      const [first, second] = [query.sequence[at] as string, query.sequence[at + 1] as string];
      if (phraseFields.some((field) => hasPair(document.fields[field] ?? [], first, second)))
        phrases += (index.rarity(first) + index.rarity(second)) / 2;
    }
    const name = document.fields[fieldAt.name] ?? [];
    const description = document.fields[fieldAt.description]?.slice(0, firstWords) ?? [];
    const met = nameWeight * shareMet(name, query) + descriptionWeight * shareMet(description, query);
    return (score + phraseWeight * phrases) * (1 + met) * valueFit(values, wantedOf(document.item));
  };
};

const hasPair = (stems: readonly string[], first: string, second: string): boolean => {
  for (let at = stems.indexOf(first); at >= 0; at = stems.indexOf(first, at + 1))
    if (stems[at + 1] === second) return true;
  return false;
};
