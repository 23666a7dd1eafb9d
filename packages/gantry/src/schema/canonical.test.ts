import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalText, toCanonical } from './canonical.ts';

describe('canonical form', () => {
  it('sorts keys at every depth and keeps the order of lists', () => {
    expect(canonicalText({ b: [{ d: 1, c: [2, 1] }], a: undefined, B: null })).toBe(
      '{"B":null,"b":[{"c":[2,1],"d":1}]}',
    );
    expect(Object.keys(toCanonical({ b: 1, a: 2 }))).toEqual(['a', 'b']);
  });

  it('gives the two listings of the field case the same bytes', () => {
    const file = new URL('../../../../test/data/field-cases/j-context.json', import.meta.url);
    const { cases } = JSON.parse(readFileSync(file, 'utf8')) as {
      cases: { id: string; input: Record<string, unknown> }[];
    };
    const input = cases.find((one) => one.id === 'j-schema-bytes-are-stable')?.input ?? {};
    expect(canonicalText(input['toolAtTurn1'])).toBe(canonicalText(input['toolAtTurn2']));
  });

  it('means the same as the value, whatever JSON it is', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(canonicalText(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('treats a prototype key as any other', () => {
    expect(canonicalText(JSON.parse('{"z":1,"__proto__":{"a":1}}'))).toBe('{"__proto__":{"a":1},"z":1}');
  });
});
