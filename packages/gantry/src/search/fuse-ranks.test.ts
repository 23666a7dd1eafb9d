import { expect, it } from 'vitest';
import { fuseRanks } from './fuse-ranks.ts';

const ids = (...args: Parameters<typeof fuseRanks>): string[] => fuseRanks(...args).map(({ id }) => id);
const all = (): boolean => true;

it('puts what both rank well above what only one does', () => {
  expect(ids(['words', 'both', 'x'], ['meaning', 'both', 'y'], all)[0]).toBe('both');
});

it('keeps the order by words where both agree, or say equally much', () => {
  expect(ids(['a', 'b', 'c'], ['a', 'b', 'c'], all)).toEqual(['a', 'b', 'c']);
  expect(ids(['a', 'b'], ['b', 'a'], all)).toEqual(['a', 'b']);
});

it('lets what has no vector keep its place by words', () => {
  expect(ids(['a', 'new', 'b'], ['a', 'b'], (id) => id !== 'new')).toEqual(['a', 'new', 'b']);
  expect(ids(['new', 'a'], ['a'], (id) => id !== 'new')).toEqual(['new', 'a']);
});

it('gives one ranking as it is when the other is empty', () => {
  expect(ids(['a', 'b'], [], all)).toEqual(['a', 'b']);
  expect(ids([], ['b', 'a'], all)).toEqual(['b', 'a']);
});
