import { expect, it } from 'vitest';
import { newId } from './ids.ts';

it('makes ids of 32 hex digits that do not repeat, across refills of the pool', () => {
  const ids = Array.from({ length: 2000 }, () => newId());
  expect(ids.every((id) => /^[0-9a-f]{32}$/.test(id))).toBe(true);
  expect(new Set(ids).size).toBe(2000);
});
