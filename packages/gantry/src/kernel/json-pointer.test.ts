import { expect, it } from 'vitest';
import { atPointer } from './json-pointer.ts';

const root = { a: { 'b/c': [10, { '~': 1 }], 'ü x': 2 }, '': 3 };

it.each([
  ['#', root],
  ['#/a/b~1c/0', 10],
  ['#/a/b~1c/1/~0', 1],
  ['#/a/%C3%BC%20x', 2],
  ['#/', 3],
  ['#/a/none', undefined],
  ['#/a/b~1c/9', undefined],
  ['#/a/toString', undefined],
  ['#/%zz', undefined],
  ['#anchor', undefined],
  ['https://a.example/#/a', undefined],
])('%s', (reference, found) => {
  expect(atPointer(root, reference)).toEqual(found);
});
