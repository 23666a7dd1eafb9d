/** How much a word in a field counts, and how much a field longer than the average is held back (0–1). */
export interface FieldRule {
  readonly weight: number;
  readonly lengthWeight: number;
}

/** One indexed document; `slot` is its place in arrays of scores. */
export interface IndexedDocument<T> {
  readonly item: T;
  readonly slot: number;
  readonly fields: readonly (readonly string[])[];
  /** For each field, what one occurrence counts at its length. */
  readonly shares: Float64Array;
}

/** An inverted index over documents of several fields that takes additions and removals one by one. */
export interface FieldIndex<T> {
  /** Documents by slot; holes where one was removed. */
  readonly documents: readonly (IndexedDocument<T> | undefined)[];
  add(item: T, fields: readonly (readonly string[])[]): IndexedDocument<T>;
  remove(document: IndexedDocument<T>): void;
  /** How many documents there are. */
  size(): number;
  /** How rare a stem is; 0 when no document has it. */
  rarity(stem: string): number;
  /** Calls `visit` with each document that has the stem and the stem's count over its fields, weighted by field and length. */
  forEach(stem: string, visit: (slot: number, weightedCount: number) => void): void;
}

// The counts of all fields share one small integer, so an occurrence costs one map entry.
const bitsAField = 4;
const mostCounted = 2 ** bitsAField - 1;

/** Makes an empty index for documents whose fields follow `rules`; seven fields at most. */
export const createFieldIndex = <T>(rules: readonly FieldRule[]): FieldIndex<T> => {
  const documents: (IndexedDocument<T> | undefined)[] = [];
  const freeSlots: number[] = [];
  const postings = new Map<string, Map<number, number>>();
  const totalLengths = rules.map(() => 0);
  let count = 0;
  let sharesAreStale = false;

  const refreshShares = (): void => {
    for (const document of documents)
      if (document !== undefined)
        for (const [field, { weight, lengthWeight }] of rules.entries()) {
          const average = (totalLengths[field] as number) / count || 1;
          const length = document.fields[field]?.length ?? 0;
          document.shares[field] = weight / (1 - lengthWeight + (lengthWeight * length) / average);
        }
    sharesAreStale = false;
  };

  const changeTotals = (document: IndexedDocument<T>, sign: 1 | -1): void => {
    count += sign;
    for (const [field, stems] of document.fields.entries()) totalLengths[field]! += sign * stems.length;
    sharesAreStale = true;
  };

  return {
    documents,
    add: (item, fields) => {
      const slot = freeSlots.pop() ?? documents.length;
      const document = { item, slot, fields, shares: new Float64Array(rules.length) };
      documents[slot] = document;
      for (const [field, stems] of fields.entries())
        for (const stem of stems) {
          let posting = postings.get(stem);
          if (posting === undefined) postings.set(stem, (posting = new Map()));
          const counts = posting.get(slot) ?? 0;
          const shift = field * bitsAField;
          if (((counts >> shift) & mostCounted) < mostCounted) posting.set(slot, counts + (1 << shift));
        }
      changeTotals(document, 1);
      return document;
    },
    remove: (document) => {
      for (const stem of new Set(document.fields.flat())) {
        const posting = postings.get(stem);
        posting?.delete(document.slot);
        if (posting?.size === 0) postings.delete(stem);
      }
      documents[document.slot] = undefined;
      freeSlots.push(document.slot);
      changeTotals(document, -1);
    },
    size: () => count,
    rarity: (stem) => {
      const found = postings.get(stem)?.size ?? 0;
      return found === 0 ? 0 : Math.log(1 + (count - found + 0.5) / (found + 0.5));
    },
    forEach: (stem, visit) => {
      const posting = postings.get(stem);
      if (posting === undefined) return;
      if (sharesAreStale) refreshShares();
      for (const [slot, counts] of posting) {
        const { shares } = documents[slot] as IndexedDocument<T>;
        let weighted = 0;
        for (let rest = counts, field = 0; rest !== 0; rest >>>= bitsAField, field += 1)
          weighted += (rest & mostCounted) * (shares[field] as number);
        visit(slot, weighted);
      }
    },
  };
};
