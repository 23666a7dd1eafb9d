import { describe, expect, it } from 'vitest';
import type { Json } from '../kernel/json.ts';
import { fillJson, fillText, fillTexts, namesIn } from './fill-template.ts';

const args = {
  id: 7,
  name: 'Ada',
  tags: ['a', 'b'],
  tricky: '${SECRET}{name}',
  nothing: null,
  on: false,
  deep: { x: [1] },
};
const fillings = { args, envOf: (name: string) => `env:${name}` };

describe('fillText', () => {
  it.each([
    ['{id}/{name}', '7/Ada'],
    ['${TOKEN} {on}', 'env:TOKEN false'],
    ['{deep}', '{"x":[1]}'],
    ['{"json": {id}, "style": { color }}', '{"json": 7, "style": { color }}'],
    ['{tricky}', '${SECRET}{name}'],
    ['{missing} here', undefined],
    ['{nothing}', undefined],
    ['{toString}', undefined],
  ])('fills %j as %j', (template, filled) => {
    expect(fillText(template, fillings)).toBe(filled);
  });
});

it('repeats a query parameter for a list, and leaves out one that is not given', () => {
  expect(fillTexts('{tags}', fillings)).toEqual(['a', 'b']);
  expect(fillTexts('x-{tags}', fillings)).toEqual(['x-["a","b"]']);
  expect(fillTexts('{missing}', fillings)).toEqual([]);
});

it.each<[Json, Json]>([
  [
    { who: '{name}', n: '{id}', list: '{tags}', on: '{on}' },
    { who: 'Ada', n: 7, list: ['a', 'b'], on: false },
  ],
  [{ text: 'Dear {name}', gone: '{missing}', half: 'a {missing}' }, { text: 'Dear Ada' }],
  [
    ['{id}', '{missing}', 5, null],
    [7, 5, null],
  ],
  [{ nested: { deep: '{deep}' } }, { nested: { deep: { x: [1] } } }],
])('fills the JSON template %j', (template, filled) => {
  expect(fillJson(template, fillings)).toEqual(filled);
});

it('names the arguments and variables of a template', () => {
  expect(namesIn({ a: ['{x}', '${Y}'], b: 'z{x} ${Q}{w}' })).toEqual({ args: ['x', 'x', 'w'], env: ['Y', 'Q'] });
});
