import { expect, it } from 'vitest';
import { toSignature } from './signature.ts';

it.each<[unknown, string]>([
  [
    { type: 'object', properties: { b: { type: 'boolean' }, a: { type: 'string' } }, required: ['a'] },
    '{"a": string, "b"?: boolean}',
  ],
  [{ type: 'array', items: { type: ['string', 'null'] } }, '(string | null)[]'],
  [{ anyOf: [{ const: 'x' }, { enum: [1, 2] }] }, '"x" | 1 | 2'],
  [{ $ref: '#/$defs/n', $defs: { n: { type: 'integer' } } }, 'integer'],
  [{ type: 'object' }, '{}'],
  [true, 'any'],
])('%j is %s', (schema, signature) => {
  expect(toSignature(schema)).toBe(signature);
});

it('leaves out what does not fit, required keys last', () => {
  const properties = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`key${n}`, { type: 'string' }]));
  const text = toSignature({ properties, required: ['key49'] }, { maxChars: 80 });
  expect(text.length).toBeLessThanOrEqual(80);
  expect(text).toMatch(/^\{"key49": string, "key0"\?: string, .*…\}$/);
});

it('ends on a schema that contains itself', () => {
  const tree = {
    type: 'object',
    properties: { kids: { type: 'array', items: { $ref: '#' } } },
    anyOf: [{ $ref: '#' }],
  };
  expect(toSignature(tree)).toContain('"kids"?:');
});
