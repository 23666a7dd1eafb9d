/** A ranking, best first, and what it could rank at all. */
export interface Ranking {
  readonly ids: readonly string[];
  /** False: the ranking knows nothing of the entry, which is another thing than ranking it last. */
  readonly knows: (id: string) => boolean;
}

/** An entry with its place in both rankings as one number. */
export interface FusedEntry {
  readonly id: string;
  readonly score: number;
}

// How soon a lower place stops to matter. 60 is customary for lists of thousands of documents; of tools, few are looked at.
const smoothing = 20;

/**
 * Puts two rankings together by reciprocal rank fusion (Cormack, Clarke, Büttcher, 2009), best first; equal ones as in the first ranking.
 *
 * Places are compared, not scores: those of words have no upper bound and those of vectors differ from model to model, so that any sum
 * of the two would fit one model only. What one ranking knows nothing of keeps its place of the other twice.
 */
export const fuseRanks = (first: Ranking, second: Ranking): FusedEntry[] => {
  const places = [first, second].map(({ ids }) => new Map(ids.map((id, place) => [id, place])));
  const shareOf = (which: number, id: string): number => {
    const place = places[which]?.get(id);
    return place === undefined ? 0 : 1 / (smoothing + place + 1);
  };
  const fused = [...new Set([...first.ids, ...second.ids])].map((id) => {
    const [own, other] = [shareOf(0, id), shareOf(1, id)];
    if (!second.knows(id)) return { id, score: 2 * own };
    if (!first.knows(id)) return { id, score: 2 * other };
    return { id, score: own + other };
  });
  return fused.sort((a, b) => b.score - a.score);
};
