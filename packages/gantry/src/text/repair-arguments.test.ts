import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../kernel/json.ts';
import { parseArguments } from './parse-arguments.ts';
import { repairArguments } from './repair-arguments.ts';

interface ArgsCase {
  readonly id: string;
  readonly kind: string;
  readonly input: { readonly schema: JsonObject; readonly argsText?: string; readonly rows?: unknown[] };
  readonly expect: { readonly args?: unknown; readonly rows?: unknown[] };
}

const { cases } = JSON.parse(
  readFileSync(new URL('../../../../test/data/field-cases/e-arguments.json', import.meta.url), 'utf8'),
) as { cases: ArgsCase[] };

const ajv = new Ajv2020({ strict: false, logger: false, validateSchema: false });
const isValid = (schema: JsonObject, args: unknown): boolean => ajv.validate(schema, args);

/** What the server would get: the arguments, or an error. */
const outcome = (schema: JsonObject, raw: unknown): unknown => {
  const parsed = parseArguments(raw);
  if (!parsed.ok) return 'error';
  const args = repairArguments(parsed.value, schema);
  return isValid(schema, args) ? args : 'error';
};

const rowsOf = (id: string): unknown[] => {
  const { input } = cases.find((one) => one.id === id) as ArgsCase;
  return (input.rows ?? [input.argsText]).map((row) => outcome(input.schema, row));
};

describe('repairArguments, field cases', () => {
  it.each([
    'e-stringified-object-and-array',
    'e-json-text-for-a-string-stays',
    'e-null-for-optional',
    'e-extra-keys-from-the-host',
  ])('%s', (id) => {
    expect(rowsOf(id)).toEqual([(cases.find((one) => one.id === id) as ArgsCase).expect.args]);
  });

  it('e-numbers-as-strings', () => {
    expect(rowsOf('e-numbers-as-strings')).toEqual([
      { n: 5 },
      { x: -2.5 },
      { n: 5 },
      'error',
      'error',
      'error',
      'error',
      { n: 3 },
      { n: 7 },
      'error',
    ]);
  });

  it('e-booleans-as-strings', () => {
    expect(rowsOf('e-booleans-as-strings')).toEqual([
      { dry: false },
      { dry: true },
      { dry: false },
      { dry: true },
      { dry: false },
      'error',
      'error',
    ]);
  });

  it('e-single-value-for-array', () => {
    expect(rowsOf('e-single-value-for-array')).toEqual([
      { urls: ['https://a.example'] },
      'error',
      'error',
      'error',
      'error',
    ]);
  });

  it('e-wrong-key-is-named: keys are never renamed or dropped', () => {
    expect(rowsOf('e-wrong-key-is-named')).toEqual(['error', 'error']);
  });
});

const object = (properties: JsonObject, required: string[] = []): JsonObject => ({
  type: 'object',
  properties,
  required,
});

describe('repairArguments', () => {
  it.each<[string, JsonObject, JsonObject, JsonObject]>([
    ['a number for text', object({ id: { type: 'string' } }), { id: 12 }, { id: '12' }],
    ['a fraction for text, whose digits may have been lost', object({ v: { type: 'string' } }), { v: 1.5 }, { v: 1.5 }],
    ['"null" for a nullable number', object({ n: { type: ['integer', 'null'] } }), { n: 'null' }, { n: null }],
    ['exponents and leading zeros', object({ n: { type: 'number' } }), { n: '1e3' }, { n: '1e3' }],
    [
      'too many digits',
      object({ x: { type: 'number' } }),
      { x: '0.12345678901234567890' },
      { x: '0.12345678901234567890' },
    ],
    ['a nested value', object({ a: object({ n: { type: 'integer' } }) }), { a: { n: '1' } }, { a: { n: 1 } }],
    [
      'items',
      object({ a: { type: 'array', items: { type: 'boolean' } } }),
      { a: ['true', false] },
      { a: [true, false] },
    ],
    [
      'a tuple',
      object({ a: { prefixItems: [{ type: 'integer' }], items: { type: 'string' } } }),
      { a: ['1', '2'] },
      { a: [1, '2'] },
    ],
    ['text that holds text', object({ a: object({ n: { type: 'integer' } }) }), { a: '{"n":"1"}' }, { a: { n: 1 } }],
    [
      'a reference',
      { ...object({ a: { $ref: '#/$defs/N' } }), $defs: { N: { type: 'integer' } } },
      { a: '1' },
      { a: 1 },
    ],
    [
      'an alternative with one reading',
      object({ a: { anyOf: [{ type: 'integer' }, { type: 'null' }] } }),
      { a: '1' },
      { a: 1 },
    ],
    [
      'alternatives with the same reading',
      object({ a: { oneOf: [{ type: 'integer' }, { type: 'number' }] } }),
      { a: '1' },
      { a: 1 },
    ],
    ['alternatives with two readings', object({ a: { type: ['string', 'boolean'] } }), { a: 1 }, { a: 1 }],
    [
      'text where text is one alternative',
      object({ a: { anyOf: [{ type: 'array' }, { type: 'string' }] } }),
      { a: '[1]' },
      { a: '[1]' },
    ],
    [
      'the alternative that a fixed member selects',
      object({
        a: {
          oneOf: [
            object({ k: { const: 'x' }, n: { type: 'integer' } }),
            object({ k: { const: 'y' }, n: { type: 'string' } }),
          ],
        },
      }),
      { a: { k: 'x', n: '1' } },
      { a: { k: 'x', n: 1 } },
    ],
    ['null for a nullable key', object({ a: { type: 'string', nullable: true } }), { a: null }, { a: null }],
    ['null for a required key', object({ a: { type: 'string' } }, ['a']), { a: null }, { a: null }],
    ['null for an undeclared key', object({}), { a: null }, { a: null }],
    ['null for an optional choice', object({ a: { enum: ['x'] } }), { a: null }, {}],
    ['null for an optional alternative', object({ a: { anyOf: [{ type: 'string' }, { const: 1 }] } }), { a: null }, {}],
    [
      'null for a key that another part requires',
      { allOf: [object({ a: { type: 'string' } }), { required: ['a'] }] },
      { a: null },
      { a: null },
    ],
    ['values of free keys', { type: 'object', additionalProperties: { type: 'integer' } }, { x: '1' }, { x: 1 }],
    ['one number for a list', object({ a: { type: 'array', items: { type: 'integer' } } }), { a: 5 }, { a: [5] }],
    ['a choice of numbers', object({ a: { enum: [1, 2] } }), { a: '2' }, { a: 2 }],
  ])('%s', (_, schema, args, repaired) => {
    expect(repairArguments(args, schema)).toEqual(repaired);
  });

  it('gives the same object when there is nothing to repair', () => {
    const args = { a: [{ b: 1 }], c: 'x' };
    expect(repairArguments(args, object({ a: { type: 'array' }, c: { type: 'string' } }))).toBe(args);
  });

  it.each<JsonObject>([
    { $ref: '#' },
    { anyOf: [{ $ref: '#' }, { $ref: '#' }] },
    { allOf: [{ $ref: '#' }, { $ref: '#' }], properties: { a: { $ref: '#/nowhere' } } },
  ])('ends on a schema that goes round in a circle: %j', (schema) => {
    expect(repairArguments({ a: '1' }, schema)).toEqual({ a: '1' });
  });

  it('never changes a value that is valid', () => {
    const leaf = fc.constantFrom<JsonObject>(
      { type: 'string' },
      { type: 'integer' },
      { type: ['number', 'null'] },
      { type: 'boolean' },
      { enum: [1, 'a', null] },
      { const: 'x' },
      { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'integer' } }] },
      { oneOf: [{ type: 'integer' }, { type: 'string', minLength: 2 }] },
      { type: 'array', items: { type: 'string' } },
      {},
    );
    const schema = fc
      .record({ a: leaf, b: leaf, c: leaf })
      .chain((properties) =>
        fc.subarray(['a', 'b', 'c']).map((required) => object({ ...properties, o: object(properties) }, required)),
      );
    const scalar = fc.constantFrom<unknown>(
      '',
      'x',
      '1',
      'true',
      'null',
      '[1]',
      '{"a":1}',
      1,
      0,
      2.5,
      true,
      null,
      [1],
      ['a'],
      {},
    );
    const args = fc.dictionary(
      fc.constantFrom('a', 'b', 'c', 'o', 'd'),
      fc.oneof(scalar, fc.dictionary(fc.constantFrom('a', 'b'), scalar)),
    );
    fc.assert(
      fc.property(schema, args, (schema, args) => {
        if (isValid(schema, args)) expect(repairArguments(args as JsonObject, schema)).toBe(args);
      }),
      { numRuns: 200 },
    );
  });
});
