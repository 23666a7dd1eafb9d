/** An entry with its places in two rankings as one number; compares only within one answer. */
export interface FusedEntry {
  readonly id: string;
  readonly score: number;
}

// How soon a lower place stops to matter. 60 is customary for lists of thousands of documents; of tools, few are looked at.
const smoothing = 20;

/**
 * Puts the ranking by words and the one by meaning together by reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009), best first;
 * equal ones as they stand by words.
 *
 * Places are compared, not scores: scores by words have no upper bound and similarities differ from model to model, so any sum of the two
 * would fit one model only. An entry that has no vector yet keeps its place by words for both, so that it is not held back.
 */
export const fuseRanks = (
  byWords: readonly string[],
  byMeaning: readonly string[],
  hasVector: (id: string) => boolean,
): FusedEntry[] => {
  const placesByWords = toShares(byWords);
  const placesByMeaning = toShares(byMeaning);
  const fused = [...new Set([...byWords, ...byMeaning])].map((id) => {
    const words = placesByWords.get(id) ?? 0;
    const meaning = hasVector(id) ? (placesByMeaning.get(id) ?? 0) : words;
    return { id, score: words + meaning };
  });
  return fused.sort((a, b) => b.score - a.score);
};

const toShares = (ids: readonly string[]): Map<string, number> =>
  new Map(ids.map((id, place) => [id, 1 / (smoothing + place + 1)]));
