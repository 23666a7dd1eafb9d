import { expect, it } from 'vitest';
import { createVectorIndex } from './vector-index.ts';

const vector = (...parts: number[]): Float32Array => Float32Array.from(parts);

it('ranks by direction, whatever the length of a vector', () => {
  const index = createVectorIndex();
  index.set('up', vector(0, 1, 0, 0, 0));
  index.set('far', vector(50, 0, 0, 0, 0));
  index.set('back', vector(-3, 0, 0, 0, 0));
  index.set('between', vector(1, 1, 0, 0, 0));
  const { near: ranked, usual } = index.nearest(vector(2, 0, 0, 0, 0), 10);
  expect(ranked.map(({ id }) => id)).toEqual(['far', 'between', 'up', 'back']);
  const similarities = [1, Math.SQRT1_2, 0, -1];
  for (const [at, { similarity }] of ranked.entries()) expect(similarity).toBeCloseTo(similarities[at] ?? NaN, 6);
  expect(usual).toBeCloseTo(Math.SQRT1_2 / 4, 6);
});

it('gives equal ones by id, and only those that are let through', () => {
  const index = createVectorIndex();
  for (const id of ['c', 'a', 'b']) index.set(id, vector(1, 0));
  expect(index.nearest(vector(1, 0), 10, (id) => id !== 'b').near.map(({ id }) => id)).toEqual(['a', 'c']);
  expect(index.nearest(vector(1, 0), 1).near.map(({ id }) => id)).toEqual(['a']);
});

it('forgets what is deleted, and replaces what is set again', () => {
  const index = createVectorIndex();
  index.set('a', vector(1, 0));
  index.set('b', vector(0, 1));
  index.set('a', vector(0, 1));
  index.delete('b');
  expect(index.nearest(vector(0, 1), 10)).toEqual({ near: [{ id: 'a', similarity: 1 }], usual: 1 });
  expect([index.has('a'), index.has('b'), index.size()]).toEqual([true, false, 1]);
});

it.each([
  ['of another length', vector(1, 0, 0)],
  ['of length zero', vector(0, 0)],
  ['that is not finite', vector(Number.NaN, 1)],
  ['without parts', vector()],
])('takes no vector %s, and finds nothing by it', (_what, odd) => {
  const index = createVectorIndex();
  expect(index.set('a', vector(1, 0))).toBe(true);
  expect(index.set('b', odd)).toBe(false);
  expect(index.nearest(odd, 10).near).toEqual([]);
  expect(index.size()).toBe(1);
});

it('takes vectors of another length when all of those before are gone', () => {
  const index = createVectorIndex();
  index.set('a', vector(1, 0));
  index.delete('a');
  expect(index.set('b', vector(0, 0, 1))).toBe(true);
  expect(index.nearest(vector(0, 0, 1), 1).near).toEqual([{ id: 'b', similarity: 1 }]);
});

it('finds nearly all of the nearest among thousands, after replacements and removals too', () => {
  const random = seeded(7);
  const index = createVectorIndex();
  const exact = new Map<string, Float32Array>();
  // Vectors of real models share most of their direction.
  const common = Float32Array.from({ length: 256 }, () => random() - 0.2);
  const make = (): Float32Array => common.map((part) => part + (random() - 0.5) * 1.5);
  const put = (id: string): void => {
    const made = make();
    exact.set(id, made);
    index.set(id, made);
  };
  for (let at = 0; at < 3_000; at += 1) put(`t${at}`);
  for (let at = 0; at < 3_000; at += 3) put(`t${at}`);
  for (let at = 1; at < 3_000; at += 3) {
    exact.delete(`t${at}`);
    index.delete(`t${at}`);
  }
  const query = make();
  const best = [...exact]
    .map(([id, one]) => ({ id, similarity: cosine(one, query) }))
    .sort((a, b) => b.similarity - a.similarity);
  const found = index.nearest(query, 50).near.map(({ id }) => id);
  expect(found[0]).toBe(best[0]?.id);
  expect(best.slice(0, 20).filter(({ id }) => found.includes(id)).length).toBeGreaterThanOrEqual(18);
});

const cosine = (a: Float32Array, b: Float32Array): number => {
  const product = (x: Float32Array, y: Float32Array): number =>
    x.reduce((sum, part, at) => sum + part * (y[at] ?? 0), 0);
  return product(a, b) / Math.sqrt(product(a, a) * product(b, b));
};
const seeded = (seed: number) => (): number => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return seed / 2 ** 32;
};
