import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { describeFaults } from './faults.ts';
import type { Schema } from './subschemas.ts';
import { createSchemaValidator } from './validate.ts';

const validator = createSchemaValidator();
const told = (schema: Schema, value: unknown): string => describeFaults(validator.validate(schema, value), { schema });
const object = (properties: Schema, more: Schema = {}): Schema => ({ type: 'object', properties, ...more });

describe('describeFaults', () => {
  const wrongKey = object(
    { path: { type: 'string' }, recursive: { type: 'boolean' } },
    { required: ['path'], additionalProperties: false },
  );

  it('says what is missing, what is unknown with its near match, and what to send', () => {
    expect(told(wrongKey, { file_path: '/a' })).toBe(
      '"path" is missing. "file_path" is not a known key (did you mean "path"?). Send {"path": string, "recursive"?: boolean}',
    );
  });

  it('mentions what the field case of the misspelt key asks for, in at most 600 characters', () => {
    const file = new URL('../../../../test/data/field-cases/e-arguments.json', import.meta.url);
    interface Row {
      readonly error: { readonly mentions: string[]; readonly maxChars: number };
    }
    const { cases } = JSON.parse(readFileSync(file, 'utf8')) as {
      cases: { id: string; input: { schema: Schema; rows: unknown[] }; expect: { rows: Row[] } }[];
    };
    const found = cases.filter((one) => one.id === 'e-wrong-key-is-named');
    expect(found).toHaveLength(1);
    for (const { input, expect: expected } of found)
      for (const [index, row] of input.rows.entries()) {
        const text = told(input.schema, row);
        const { mentions, maxChars } = (expected.rows[index] as Row).error;
        for (const mention of mentions) expect(text).toContain(mention);
        expect(text.length).toBeLessThanOrEqual(maxChars);
      }
  });

  it.each<[string, Schema, unknown, string]>([
    [
      'a wrong type',
      object({ n: { type: 'integer' } }),
      { n: '12abc' },
      '"n" must be an integer, but a string ("12abc") came.',
    ],
    [
      'a wrong choice',
      object({ k: { enum: ['a', 'b'] } }),
      { k: 'c' },
      '"k" must be one of "a", "b", but a string ("c") came.',
    ],
    [
      'a wrong list',
      object({ urls: { type: 'array' } }),
      { urls: 'a' },
      '"urls" must be an array, but a string ("a") came.',
    ],
    [
      'types on offer',
      object({ p: { anyOf: [{ type: 'integer' }, { type: 'null' }] } }),
      { p: 'x' },
      '"p" must be an integer or null, but a string ("x") came.',
    ],
    ['something that is no object', object({}), 'x', 'The arguments must be an object, but a string ("x") came.'],
    ['a forbidden key', object({ never: false }), { never: 1 }, '"never" is not allowed.'],
  ])('words %s', (_, schema, value, sentence) => {
    expect(told(schema, value).startsWith(sentence)).toBe(true);
  });

  it('tells the faults of the alternative that came closest', () => {
    const branches = ['isbn', 'title'].map((mode) =>
      object({ mode: { const: mode }, [mode]: { type: 'string' } }, { required: ['mode', mode] }),
    );
    expect(told({ anyOf: branches }, { mode: 'isbn' })).toMatch(/^"isbn" is missing\. Send /);
    const named = { oneOf: [{ $ref: '#/$defs/i' }, { $ref: '#/$defs/t' }], $defs: { i: branches[0], t: branches[1] } };
    expect(told(named, { mode: 'title' })).toMatch(/^"title" is missing\. Send /);
  });

  it('tells the first fault only of a value with thousands of members', () => {
    const item = { anyOf: [object({ a: { type: 'string' } }, { required: ['a'] }), { type: 'integer' }] };
    const faults = validator.validate(
      { type: 'array', items: item },
      Array.from({ length: 50_000 }, () => ({ b: 1 })),
    );
    expect(faults).toEqual([{ path: '[0].a', problem: 'is missing', kind: 'missing' }]);
    const referring = { additionalProperties: { $ref: '#/$defs/text' }, $defs: { text: { type: 'string' } } };
    const numbers = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`k${index}`, index]));
    expect(validator.validate(referring, numbers)).toHaveLength(1);
  });

  it('stays within 600 characters whatever the number and length of the faults', () => {
    const keys = Array.from({ length: 60 }, (_, n) => `${'long_key_name_'.repeat(6)}${n}`);
    const schema = object(Object.fromEntries(keys.map((key) => [key, { enum: keys }])), { required: keys });
    const text = told(schema, { [keys[0] as string]: 'x'.repeat(5_000) });
    expect(text.length).toBeLessThanOrEqual(600);
    expect(text).toMatch(/And \d+ more\. Send \{/);
  });
});
