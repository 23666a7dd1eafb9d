import type { Sketches } from './vector-sketches.ts';
import { createSketches } from './vector-sketches.ts';

/** How near an entry is to what was asked. */
export interface NearEntry {
  readonly id: string;
  /** Cosine of the angle between the vectors, -1 to 1. What is near differs from model to model. */
  readonly similarity: number;
}

/** The entries nearest to a vector. */
export interface NearestEntries {
  /** Nearest first; equal ones by id. */
  readonly near: readonly NearEntry[];
  /** The mean similarity of all entries, from which one can tell what is near. */
  readonly usual: number;
}

/** Vectors by id, in memory, to find the nearest of: some milliseconds for 5,000 vectors of 1,536 numbers. */
export interface VectorIndex {
  /**
   * Keeps the vector, replacing what the id had.
   * @returns false when it is no vector of this index: another length than those before, zero, or not finite.
   */
  set(id: string, vector: Float32Array): boolean;
  delete(id: string): void;
  has(id: string): boolean;
  size(): number;
  /**
   * At most `limit` of the entries that `where` lets through. Exact up to some hundred entries; among more, one whose vector is rather near may
   * be missed. Empty for a vector of another length.
   */
  nearest(query: Float32Array, limit: number, where?: (id: string) => boolean): NearestEntries;
}

// Looking at every number of every vector takes too long with thousands; so many for each that is wanted are looked at closely.
const lookedAtForEach = 8;
const exactUpTo = 600;

/** Makes an empty index; the first vector decides the length of all. */
export const createVectorIndex = (): VectorIndex => {
  const vectors = new Map<string, Float32Array>();
  let sum = new Float64Array(0);
  let sketches: Sketches | undefined;
  let sketched = 0;

  const addToSum = (vector: Float32Array, sign: 1 | -1): void => {
    for (const [at, part] of vector.entries()) sum[at]! += sign * part;
  };
  const remove = (id: string): void => {
    const vector = vectors.get(id);
    if (!vector) return;
    addToSum(vector, -1);
    vectors.delete(id);
    sketches?.delete(id);
    if (vectors.size === 0) sketches = undefined;
  };
  /** Made when they are first needed, and anew when there are twice as many: the mean has moved then. */
  const currentSketches = (): Sketches => {
    if (sketches && vectors.size <= 2 * sketched) return sketches;
    sketches = createSketches(Float32Array.from(sum, (part) => part / vectors.size));
    sketched = vectors.size;
    for (const [id, vector] of vectors) sketches.set(id, vector);
    return sketches;
  };

  return {
    set: (id, vector) => {
      const unit = toUnit(vector);
      if (!unit || (vectors.size > 0 && unit.length !== sum.length)) return false;
      remove(id);
      if (vectors.size === 0) sum = new Float64Array(unit.length);
      vectors.set(id, unit);
      sketches?.set(id, unit);
      addToSum(unit, 1);
      return true;
    },
    delete: remove,
    has: (id) => vectors.has(id),
    size: () => vectors.size,
    nearest: (query, limit, where) => {
      const unit = toUnit(query);
      if (!unit || unit.length !== sum.length || vectors.size === 0) return { near: [], usual: 0 };
      const isExact = vectors.size <= Math.max(exactUpTo, limit * lookedAtForEach);
      const near: NearEntry[] = [];
      for (const id of isExact ? vectors.keys() : currentSketches().nearestFirst(unit)) {
        if (where && !where(id)) continue;
        near.push({ id, similarity: dot(unit, vectors.get(id) as Float32Array) });
        if (!isExact && near.length === limit * lookedAtForEach) break;
      }
      near.sort((a, b) => b.similarity - a.similarity || (a.id < b.id ? -1 : 1));
      return { near: near.slice(0, limit), usual: dot(unit, sum) / vectors.size };
    },
  };
};

/** The vector at length 1, or undefined when it has no direction. */
const toUnit = (vector: Float32Array): Float32Array | undefined => {
  const norm = Math.sqrt(dot(vector, vector));
  return Number.isFinite(norm) && norm > 0 ? vector.map((part) => part / norm) : undefined;
};

// Four sums at a time: a single one would wait for itself at every step.
const dot = (a: Float32Array, b: Float32Array | Float64Array): number => {
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
