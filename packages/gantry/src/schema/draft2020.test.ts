import { describe, expect, it } from 'vitest';
import { toDraft2020 } from './draft2020.ts';

describe('toDraft2020', () => {
  it.each([
    [
      'tuples',
      { items: [{ type: 'string' }], additionalItems: false },
      { prefixItems: [{ type: 'string' }], items: false },
    ],
    ['nullable', { type: 'string', nullable: true, enum: ['a'] }, { type: ['string', 'null'], enum: ['a', null] }],
    ['nullable without a type', { nullable: true }, {}],
    [
      'exclusive flags',
      { minimum: 1, exclusiveMinimum: true, maximum: 2, exclusiveMaximum: false },
      { exclusiveMinimum: 1, maximum: 2 },
    ],
    ['a flag instead of required names', { properties: { a: { required: true } } }, { properties: { a: {} } }],
    ['an empty enum', { enum: [], type: 'string' }, { type: 'string' }],
    ['a draft 7 anchor', { definitions: { a: { $id: '#x' } } }, { definitions: { a: { $anchor: 'x' } } }],
    [
      'an absolute address of the schema itself',
      { $id: 'https://a.example/s', $ref: 'https://a.example/s#/$defs/x' },
      { $ref: '#/$defs/x' },
    ],
    [
      'what stands beside a draft 7 reference',
      {
        $schema: 'http://json-schema.org/draft-07/schema#',
        $ref: '#/definitions/a',
        minLength: 3,
        definitions: { a: {} },
      },
      { $ref: '#/definitions/a', definitions: { a: {} } },
    ],
  ])('rewrites %s', (_, schema, expected) => {
    expect(toDraft2020(schema)).toEqual(expected);
  });

  it('leaves data and names of properties alone', () => {
    const schema = {
      properties: {
        id: { type: 'string' },
        nullable: { type: 'boolean' },
        enum: { type: 'string' },
        $schema: { type: 'string' },
      },
      const: { $id: 'x', nullable: true },
      default: { id: 'y' },
    };
    expect(toDraft2020(schema)).toEqual(schema);
  });
});
