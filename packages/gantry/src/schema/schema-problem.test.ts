import { describe, expect, it } from 'vitest';
import { schemaProblem } from './schema-problem.ts';
import type { Schema } from './subschemas.ts';

const object = (properties: Schema, more: Schema = {}): Schema => ({ type: 'object', properties, ...more });

describe('schemaProblem', () => {
  it.each<[unknown, string]>([
    [null, 'not null'],
    [[], 'not a list'],
    [true, 'not a boolean'],
    [{ type: 'objekt' }, '"objekt"'],
    [{ properties: [] }, '"properties"'],
    [object({ a: 1 }), '"properties/a"'],
    [object({ a: { type: ['string', 'text'] } }), '"text"'],
    [{ anyOf: [] }, '"anyOf"'],
    [{ required: [1] }, '"required"'],
    [object({ a: { pattern: 1 } }), '"pattern"'],
    [{ $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } }, 'circle'],
  ])('refuses %j', (schema, word) => {
    expect(schemaProblem(schema)).toContain(word);
  });

  it.each<unknown>([
    {},
    { type: 'object' },
    object({ type: { type: 'string' }, $ref: { type: 'string' }, properties: { type: 'string' } }),
    { properties: { a: { required: true } } },
    { $id: 'https://a.example/s', $ref: 'https://a.example/s#/$defs/a', $defs: { a: {} } },
    { $ref: '#top', $defs: { a: { $anchor: 'top' } } },
    object({ a: { $ref: '#/properties/b' }, b: { type: 'array', items: { $ref: '#' } } }),
  ])('takes %j', (schema) => {
    expect(schemaProblem(schema)).toBeUndefined();
  });
});
