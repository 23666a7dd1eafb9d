import type { CloserLook } from './closer-look.ts';
import { createCloserLook } from './closer-look.ts';
import { createFieldIndex, type IndexedDocument } from './field-index.ts';
import { toGivenValues } from './given-values.ts';
import { parseQuery } from './parse-query.ts';
import type { Thesaurus } from './thesaurus.ts';
import { createThesaurus } from './thesaurus.ts';
import { fieldAt, type ToolEntry, toFieldStems, toolFields } from './tool-fields.ts';

/** A tool that fits, best first; scores compare only within one result. */
export interface ToolMatch {
  readonly entry: ToolEntry;
  readonly score: number;
}

/** Narrows a search. */
export interface ToolSearchOptions {
  /** Only entries for which this is true are ranked. */
  readonly where?: ((entry: ToolEntry) => boolean) | undefined;
}

/** Finds tools and prompts by what they do. One index serves every session; `where` says what a session may see. */
export interface ToolIndex {
  /**
   * Adds entries, replacing those with the same id; an unchanged entry costs nothing when it is the same object. They are read at the next
   * search: a start with many tools is not held up by words that nobody looks for yet.
   */
  upsert(entries: Iterable<ToolEntry>): void;
  remove(ids: Iterable<string>): void;
  /**
   * The entries that fit the query best, at most `limit` (1 or more). An entry whose name or typed name is the whole query comes first,
   * whatever the case; equal scores are in order of typed name.
   */
  search(query: string, limit: number, options?: ToolSearchOptions): ToolMatch[];
}

// BM25F: how soon repetition stops counting.
const saturation = 1.2;
// A related word counts more when the index does not have the word itself.
const standIn = 1.5;
// Names run together ("tapemixer") and rare forms: part of a name counts as a related word, from this length on.
const partOfName = 0.3;
const shortestPart = 4;
// Share of a query that must be met: a mild preference for entries that meet several of its words.
const coveragePower = 0.2;
const unknownRarity = 0.3;
const lookedAtMost = 50;
// Above anything that words can add up to.
const exactNameBonus = 1_000;

/** Makes an empty index. */
export const createToolIndex = (): ToolIndex => {
  const index = createFieldIndex<ToolEntry>(toolFields);
  const byId = new Map<string, IndexedDocument<ToolEntry>>();
  const byExactName = new Map<string, Set<IndexedDocument<ToolEntry>>>();
  const nameStems = new Map<string, number>();
  // Not before the first search: making it takes longer than all else that is made of a catalog.
  let words: { readonly thesaurus: Thesaurus; readonly lookCloser: CloserLook } | undefined;
  const wordsOf = (): { readonly thesaurus: Thesaurus; readonly lookCloser: CloserLook } => {
    if (words) return words;
    const thesaurus = createThesaurus();
    words = { thesaurus, lookCloser: createCloserLook(index, thesaurus) };
    return words;
  };
  let scores = new Float64Array(0);
  let covered = new Float64Array(0);
  let best = new Float64Array(0);

  const exactNames = ({ name, typedName }: ToolEntry): string[] => [name.toLowerCase(), typedName.toLowerCase()];

  const add = (entry: ToolEntry): void => {
    const document = index.add(entry, toFieldStems(entry));
    byId.set(entry.id, document);
    for (const name of exactNames(entry)) {
      const same = byExactName.get(name);
      if (same === undefined) byExactName.set(name, new Set([document]));
      else same.add(document);
    }
    for (const stem of namesOf(document)) nameStems.set(stem, (nameStems.get(stem) ?? 0) + 1);
  };

  const remove = (document: IndexedDocument<ToolEntry>): void => {
    index.remove(document);
    byId.delete(document.item.id);
    for (const name of exactNames(document.item)) {
      const same = byExactName.get(name);
      same?.delete(document);
      if (same?.size === 0) byExactName.delete(name);
    }
    for (const stem of namesOf(document)) {
      const left = (nameStems.get(stem) ?? 0) - 1;
      if (left > 0) nameStems.set(stem, left);
      else nameStems.delete(stem);
    }
  };

  /** The stems that may stand for a stem of the query, with how much each counts. */
  const variantsOf = (stem: string, isKnown: boolean): [stem: string, weight: number][] => {
    const variants: [string, number][] = [[stem, 1]];
    const share = isKnown ? 1 : standIn;
    for (const [related, weight] of wordsOf().thesaurus.get(stem) ?? []) variants.push([related, weight * share]);
    if (stem.length >= shortestPart)
      for (const name of nameStems.keys())
        if (name !== stem && (name.includes(stem) || (!isKnown && name.length >= shortestPart && stem.includes(name))))
          variants.push([name, partOfName * share]);
    return variants;
  };

  const scoreAll = (weights: ReadonlyMap<string, number>): Set<number> => {
    if (scores.length < index.documents.length) {
      scores = new Float64Array(index.documents.length * 2);
      covered = new Float64Array(scores.length);
      best = new Float64Array(scores.length);
    }
    const found = new Set<number>();
    let total = 0;
    for (const [stem, weight] of weights) {
      const ownRarity = index.rarity(stem);
      const touched: number[] = [];
      let most = 0;
      for (const [variant, share] of variantsOf(stem, ownRarity > 0)) {
        const rarity = ownRarity > 0 ? Math.min(ownRarity, index.rarity(variant)) : index.rarity(variant);
        if (rarity === 0) continue;
        const worth = weight * share * rarity;
        most = Math.max(most, worth);
        index.forEach(variant, (slot, count) => {
          const score = (worth * count * (saturation + 1)) / (count + saturation);
          if (best[slot] === 0) touched.push(slot);
          if (score > (best[slot] as number)) best[slot] = score;
        });
      }
      // A word that nothing meets says that the best answer may be none of these, equally for all.
      const worth = most || weight * unknownRarity * Math.log(1 + index.size() * 2);
      total += worth;
      for (const slot of touched) {
        if (!found.has(slot)) {
          found.add(slot);
          scores[slot] = 0;
          covered[slot] = 0;
        }
        scores[slot]! += best[slot] as number;
        covered[slot]! += Math.min(worth, best[slot] as number);
        best[slot] = 0;
      }
    }
    for (const slot of found) scores[slot]! *= ((covered[slot] as number) / total) ** coveragePower;
    return found;
  };

  const unread = new Map<string, ToolEntry>();
  const readAll = (): void => {
    for (const entry of unread.values()) {
      const known = byId.get(entry.id);
      if (known?.item === entry) continue;
      if (known !== undefined) remove(known);
      add(entry);
    }
    unread.clear();
  };

  return {
    upsert: (entries) => {
      for (const entry of entries) unread.set(entry.id, entry);
    },
    remove: (ids) => {
      for (const id of ids) {
        unread.delete(id);
        const document = byId.get(id);
        if (document !== undefined) remove(document);
      }
    },
    search: (text, limit, { where } = {}) => {
      readAll();
      let query = parseQuery(text);
      const candidates: { document: IndexedDocument<ToolEntry>; score: number }[] = [];
      let found = scoreAll(query.weights);
      if (found.size === 0) {
        // Words that say nothing elsewhere may be the name of a tool: "pour", "tell".
        query = parseQuery(text, { keepsAll: true });
        found = scoreAll(query.weights);
      }
      const exact = byExactName.get(text.trim().toLowerCase());
      for (const { slot } of exact ?? [])
        if (!found.has(slot)) {
          found.add(slot);
          scores[slot] = 0;
        }
      for (const slot of found) {
        const document = index.documents[slot] as IndexedDocument<ToolEntry>;
        if (where !== undefined && !where(document.item)) continue;
        candidates.push({ document, score: (scores[slot] as number) + (exact?.has(document) ? exactNameBonus : 0) });
      }
      candidates.sort((a, b) => b.score - a.score || compareNames(a.document.item, b.document.item));
      const values = toGivenValues(text);
      const { lookCloser } = wordsOf();
      const matches = candidates
        .slice(0, Math.max(limit, lookedAtMost))
        .map(({ document, score }) => ({ entry: document.item, score: lookCloser(document, score, query, values) }));
      matches.sort((a, b) => b.score - a.score || compareNames(a.entry, b.entry));
      return matches.slice(0, limit);
    },
  };
};

const namesOf = (document: IndexedDocument<ToolEntry>): Set<string> => new Set(document.fields[fieldAt.name]);

const compareNames = (a: ToolEntry, b: ToolEntry): number =>
  a.typedName < b.typedName ? -1 : a.typedName > b.typedName ? 1 : 0;
