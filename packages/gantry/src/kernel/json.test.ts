import { describe, expect, it } from 'vitest';
import { deepFreeze } from './json.ts';

const nested = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels)) as unknown;

describe('deepFreeze', () => {
  it('freezes every depth, and passes over bytes', () => {
    const value = { a: [{ b: 1 }], bytes: new Uint8Array(2) };
    expect(deepFreeze(value)).toBe(value);
    expect([value, value.a, value.a[0]].every((part) => Object.isFrozen(part))).toBe(true);
    expect(Object.isFrozen(value.bytes)).toBe(false);
  });

  it('takes values that nest without end or contain themselves', () => {
    expect(Object.isFrozen(deepFreeze(nested(100_000)))).toBe(true);
    const own: { own?: unknown } = {};
    own.own = own;
    expect(Object.isFrozen(deepFreeze(own))).toBe(true);
  });
});
