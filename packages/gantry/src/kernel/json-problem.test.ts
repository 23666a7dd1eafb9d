import { describe, expect, it } from 'vitest';
import { jsonProblem, maxJsonDepth } from './json-problem.ts';

const nested = (levels: number): unknown => JSON.parse('{"a":'.repeat(levels) + '1' + '}'.repeat(levels)) as unknown;
const own: { list: unknown[] } = { list: [] };
own.list.push(own);

describe('jsonProblem', () => {
  it.each<[string, unknown]>([
    ['a text', 'x'],
    ['nothing', undefined],
    ['an object with an absent member', { a: undefined, b: [null, 1, true] }],
    ['an object without a prototype', Object.assign(Object.create(null) as object, { a: 1 })],
    [
      'an object of a class',
      new (class Point {
        x = 1;
      })(),
    ],
    ['a date, which says itself as JSON', { at: new Date(0) }],
    ['the deepest value', nested(maxJsonDepth)],
    ['the same object twice', [own.list.length, { a: 1 }, { a: 1 }]],
  ])('finds none in %s', (_what, value) => {
    expect(jsonProblem(value)).toBeUndefined();
  });

  it.each<[unknown, string]>([
    [{ rows: [{ n: 1 }, { total: 1n }] }, 'a bigint at "rows[1].total"'],
    [() => 1, 'a function'],
    [{ a: { run: () => 1 } }, 'a function at "a.run"'],
    [[Symbol('s')], 'a symbol at "[0]"'],
    [{ found: new Map([['a', 1]]) }, 'a value of type Map at "found"'],
    [{ later: Promise.resolve(1) }, 'a value of type Promise at "later"'],
    [{ bytes: new Uint8Array(2) }, 'a value of type Uint8Array at "bytes"'],
    [own, 'a value that contains itself'],
    [nested(maxJsonDepth + 1), `JSON nested deeper than ${maxJsonDepth} levels`],
    [nested(100_000), `JSON nested deeper than ${maxJsonDepth} levels`],
  ])('says what is wrong and where (row %#)', (value, problem) => {
    expect(jsonProblem(value)).toBe(problem);
  });
});
