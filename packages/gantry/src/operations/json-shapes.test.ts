import * as z from 'zod';
import { expect, it } from 'vitest';
import { jsonObject } from './json-shapes.ts';

it('takes an object as it came, the key __proto__ included, and refuses what is none', () => {
  const given: unknown = JSON.parse('{"__proto__":{"admin":true},"n":1}');
  expect(jsonObject.parse(given)).toBe(given);
  for (const other of [[], null, 5, 'x']) expect(jsonObject.safeParse(other).success).toBe(false);
});

it('says itself as an object of any members', () => {
  expect(z.toJSONSchema(jsonObject)).toMatchObject({ type: 'object', additionalProperties: {} });
});
