import { describe, expect, it } from 'vitest';
import type { Schema } from './subschemas.ts';
import { createSchemaValidator } from './validate.ts';

const validator = createSchemaValidator();
const paths = (schema: Schema, value: unknown): string[] =>
  validator.validate(schema, value).map((fault) => `${fault.kind} ${fault.path}`);
const object = (properties: Schema, more: Schema = {}): Schema => ({ type: 'object', properties, ...more });

describe('createSchemaValidator', () => {
  it('names every fault with its place', () => {
    const schema = object(
      {
        a: object({ b: { type: 'array', items: object({ c: { type: 'integer' } }, { required: ['c'] }) } }),
        kind: { enum: ['x', 'y'] },
      },
      { required: ['a', 'z'], additionalProperties: false },
    );
    expect(paths(schema, { a: { b: [{ c: 1 }, {}, { c: 'x' }] }, kind: 'q', extra: 1 }).sort()).toEqual([
      'missing a.b[1].c',
      'missing z',
      'type a.b[2].c',
      'unknown extra',
      'value kind',
    ]);
    expect(paths(schema, { kind: 'x', a: { b: [] } })).toEqual(['missing z']);
  });

  it.each<[string, Schema, unknown, boolean]>([
    ['3.0 as an integer', object({ n: { type: 'integer' } }), { n: 3.0 }, true],
    ['a format', object({ d: { type: 'string', format: 'date' } }), { d: 'soon' }, false],
    ['an unknown format', object({ d: { type: 'string', format: 'shoe-size' } }), { d: 'x' }, true],
    ['unknown keywords', { ...object({}), 'x-order': 1, discriminator: { propertyName: 'k' } }, {}, true],
    ['a boolean subschema', object({ never: false, value: true }), { value: 1, never: 1 }, false],
    ['a tree', object({ kids: { type: 'array', items: { $ref: '#' } } }), { kids: [{ kids: [{ kids: 1 }] }] }, false],
    [
      'a draft 7 tuple',
      { $schema: 'http://json-schema.org/draft-07/schema#', ...object({ t: { items: [{ type: 'string' }] } }) },
      { t: [1] },
      false,
    ],
    ['a pattern of another dialect', object({ p: { type: 'string', pattern: '(?i)abc' } }), { p: 'x' }, true],
    [
      'a pattern that is not Unicode-aware',
      object({ p: { type: 'string', pattern: '^[\\w-.]+$' } }),
      { p: 'a-b' },
      true,
    ],
    [
      'an address in $id, twice',
      { $id: 'https://a.example/s', ...object({ a: { type: 'string' } }) },
      { a: 'x' },
      true,
    ],
    [
      'the same address in another schema',
      { $id: 'https://a.example/s', ...object({ a: { type: 'integer' } }) },
      { a: 1 },
      true,
    ],
    [
      'the address of the meta-schema',
      { $id: 'https://json-schema.org/draft/2020-12/schema', ...object({}) },
      {},
      true,
    ],
  ])('handles %s', (_, schema, value, valid) => {
    expect(validator.validate(schema, value).length === 0).toBe(valid);
  });

  it('compiles a schema once and lets the value go after the check', () => {
    const schema = object({ a: { type: 'string' } });
    expect(validator.validate(schema, { a: 1 })).toEqual(validator.validate(schema, { a: 1 }));
    expect(validator.validate(schema, { a: 'x' })).toEqual([]);
  });

  const doubling = Object.fromEntries(
    Array.from({ length: 40 }, (_, n) => [
      `a${n}`,
      { allOf: [{ $ref: `#/$defs/a${n + 1}` }, { $ref: `#/$defs/a${n + 1}` }] },
    ]),
  );
  const deep = (levels: number): Schema => (levels === 0 ? {} : { items: deep(levels - 1) });
  it.each<[string, Schema, unknown]>([
    ['a pattern that never ends', object({ p: { type: 'string', pattern: '^(a+)+$' } }), { p: `${'a'.repeat(50)}!` }],
    ['references that double', object({ p: { $ref: '#/$defs/a0' } }, { $defs: { ...doubling, a40: {} } }), { p: 1 }],
    ['alternatives of itself', { anyOf: [{ $ref: '#' }, { $ref: '#' }] }, {}],
    ['a remote reference', object({ p: { $ref: 'https://schemas.example/a.json' } }), { p: 1 }],
    ['a reference to nothing', object({ p: { $ref: '#/$defs/none' } }), { p: 1 }],
    ['an asynchronous schema', object({ p: { $async: true, type: 'string' } }), { p: 1 }],
    ['endless depth', deep(300), []],
    ['too many subschemas', object(Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`p${n}`, {}]))), {}],
    ['too much text', object({}, { description: 'x'.repeat(600_000) }), {}],
    ['a keyword of the wrong kind', object({ p: { uniqueItems: 'yes' } }), { p: [1] }],
  ])('answers a hostile or broken schema with one fault: %s', (_, schema, value) => {
    const faults = validator.validate(schema, value);
    expect(faults.map((fault) => fault.kind)).toEqual(['schema']);
    expect(faults[0]?.problem).toMatch(/^cannot be checked/);
  });

  it('goes on to work after a check was stopped', () => {
    const schema = object({ p: { type: 'string', pattern: '^(a+)+$' } });
    expect(validator.validate(schema, { p: `${'a'.repeat(50)}!` })).toHaveLength(1);
    expect(validator.validate(schema, { p: 'aaa' })).toEqual([]);
  });
});
