/** How near an entry is to what was asked. */
export interface NearEntry {
  readonly id: string;
  /** Cosine of the angle between the vectors, -1 to 1. What is near differs from model to model. */
  readonly similarity: number;
}

/** Vectors by id, in memory, to find the nearest of. Searching looks at each: exact, and fast enough for the tools of many servers. */
export interface VectorIndex {
  /**
   * Keeps the vector, replacing what the id had.
   * @returns false when it is no vector of this index: another length than those before, zero, or not finite.
   */
  set(id: string, vector: Float32Array): boolean;
  delete(id: string): void;
  has(id: string): boolean;
  size(): number;
  /** Similarity of each entry that `where` lets through, nearest first; equal ones by id. Empty for a vector of another length. */
  rank(query: Float32Array, where?: (id: string) => boolean): NearEntry[];
}

/** Makes an empty index; the first vector decides the length of all. */
export const createVectorIndex = (): VectorIndex => {
  const vectors = new Map<string, Float32Array>();
  let length = 0;
  return {
    set: (id, vector) => {
      const unit = toUnit(vector);
      if (!unit || (vectors.size > 0 && unit.length !== length)) return false;
      length = unit.length;
      vectors.set(id, unit);
      return true;
    },
    delete: (id) => void vectors.delete(id),
    has: (id) => vectors.has(id),
    size: () => vectors.size,
    rank: (query, where) => {
      const unit = toUnit(query);
      if (!unit || unit.length !== length) return [];
      const near: NearEntry[] = [];
      for (const [id, vector] of vectors) if (!where || where(id)) near.push({ id, similarity: dot(unit, vector) });
      return near.sort((a, b) => b.similarity - a.similarity || (a.id < b.id ? -1 : 1));
    },
  };
};

/** The vector at length 1, or undefined when it has no direction. */
const toUnit = (vector: Float32Array): Float32Array | undefined => {
  const norm = Math.sqrt(dot(vector, vector));
  return Number.isFinite(norm) && norm > 0 ? vector.map((part) => part / norm) : undefined;
};

// Four sums at a time: a single one would wait for itself at every step.
const dot = (a: Float32Array, b: Float32Array): number => {
  let [s0, s1, s2, s3] = [0, 0, 0, 0];
  let at = 0;
  for (; at + 3 < a.length; at += 4) {
    s0 += a[at]! * b[at]!;
    s1 += a[at + 1]! * b[at + 1]!;
    s2 += a[at + 2]! * b[at + 2]!;
    s3 += a[at + 3]! * b[at + 3]!;
  }
  for (; at < a.length; at += 1) s0 += a[at]! * b[at]!;
  return s0 + s1 + s2 + s3;
};
