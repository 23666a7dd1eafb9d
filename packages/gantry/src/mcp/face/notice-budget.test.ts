import { expect, it } from 'vitest';
import { createNoticeBudget } from './notice-budget.ts';

it('tells notices of one request until they have 8 MB in all', () => {
  const isTold = createNoticeBudget();
  const megabyte = { message: 'x'.repeat(1024 * 1024) };
  const told = Array.from({ length: 20 }, () => isTold(megabyte)).filter(Boolean);
  expect(told).toHaveLength(7);
  expect(isTold({})).toBe(false);
  expect(createNoticeBudget()({})).toBe(true);
});
