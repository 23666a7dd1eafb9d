import { describe, expect, it } from 'vitest';
import { chooseTier, demandOf } from './choose-tier.ts';

const thresholds = { low: 0.15, balanced: 0.46 };

describe('the tier of a message', () => {
  it.each([
    ['hi there', 'low'],
    ['thanks, that is all', 'low'],
    ['what is the capital of France?', 'low'],
    ['find my last invoice and send it to Anna', 'balanced'],
    [
      'Research the three vendors, compare their prices and then design a migration plan:\n1. data\n2. users\n3. billing\nWhat are the trade-offs?',
      'high',
    ],
  ])('of %j is %s', (text, tier) => {
    expect(chooseTier(text, thresholds)).toBe(tier);
  });

  it('moves with the thresholds', () => {
    expect(chooseTier('hi', { low: 0, balanced: 0 })).toBe('high');
    expect(chooseTier('research and compare everything', { low: 1.1, balanced: 2 })).toBe('low');
  });

  it('stays between 0 and 1', () => {
    expect(demandOf('')).toBe(0);
    expect(demandOf('analyse? '.repeat(5_000))).toBeLessThanOrEqual(1);
  });

  it.each([
    ['blanks', `x${' '.repeat(100_000)}x`],
    ['empty lines', `x${'\n'.repeat(100_000)}x`],
    ['digits', '1'.repeat(100_000)],
  ])('is found in one pass: %s', (_what, text) => {
    const startMs = performance.now();
    demandOf(text);
    expect(performance.now() - startMs).toBeLessThan(500);
  });

  it('counts what is asked for behind a long text', () => {
    expect(chooseTier(`${'word '.repeat(20_000)}\nCompare and analyse this, then design a plan?`, thresholds)).toBe(
      'high',
    );
  });
});
