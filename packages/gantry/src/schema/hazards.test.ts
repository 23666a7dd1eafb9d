import { describe, expect, it } from 'vitest';
import { isHazardous, isPlainPattern } from './hazards.ts';

describe('isPlainPattern', () => {
  it.each([
    ['^[a-z0-9_-]+$', true],
    ['^\\d{4}-\\d{2}$', true],
    ['abc', true],
    ['^(a+)+$', false],
    ['^a*a*$', false],
    ['a+b', false],
    ['^a+|b', false],
    ['^(?=x)', false],
    ['^\\(a+\\)$', true],
  ])('%s: %s', (pattern, plain) => {
    expect(isPlainPattern(pattern)).toBe(plain);
  });
});

describe('isHazardous', () => {
  it.each<[Record<string, unknown>, boolean]>([
    [{ properties: { a: { $ref: '#' } } }, false],
    [{ properties: { a: { anyOf: [{ type: 'string' }, { type: 'null' }] } } }, false],
    [{ properties: { a: { type: 'string', pattern: '^[a-z]+$' } } }, false],
    [{ anyOf: [{ $ref: '#/$defs/a' }], $defs: { a: {} } }, true],
    [{ $ref: '#/$defs/a', properties: {}, $defs: { a: {} } }, true],
    [{ patternProperties: { '(a|b)*c': {} } }, true],
  ])('%j: %s', (schema, hazardous) => {
    expect(isHazardous(schema)).toBe(hazardous);
  });
});
