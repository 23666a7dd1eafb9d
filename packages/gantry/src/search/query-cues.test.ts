import { expect, it } from 'vitest';
import { toCues } from './query-cues.ts';

it.each<[string, string]>([
  ['read https://example.com/a', 'url'],
  ['write to ann@example.com', 'email'],
  ['When is the launch?', 'date'],
  ['events on 2024-05-01', 'date'],
  ['events on March 3rd', 'date'],
  ['how much is it', 'price'],
  ['it costs €5', 'price'],
  ['how many are left', 'count'],
  ['how far is it', 'distance'],
  ['restaurants in Lyon', 'city'],
  ['elections of 1998', 'year'],
  ['add up [1, 2, 3]', 'list'],
])('"%s" asks for a %s', (query, word) => {
  expect(toCues(query)).toContain(word);
});

it('adds nothing to plain words', () => {
  expect(toCues('delete the marching order')).toEqual([]);
});

it.each([
  ['digits', '1'.repeat(60_000)],
  ['brackets', '['.repeat(60_000)],
  ['brackets and commas', '[,'.repeat(30_000)],
  ['addresses', 'a@'.repeat(30_000)],
  ['words', 'from '.repeat(12_000)],
])('reads a long query in one pass: %s', (_what, query) => {
  const startMs = performance.now();
  toCues(query);
  expect(performance.now() - startMs).toBeLessThan(200);
});
