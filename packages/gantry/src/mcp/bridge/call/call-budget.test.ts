import { describe, expect, it } from 'vitest';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { callTimeoutMs, startCallBudget } from './call-budget.ts';

describe('the budget of a call', () => {
  it('ends after the time without news', async () => {
    const clock = fakeClock();
    using budget = startCallBudget(clock, { timeoutMs: 1_000, maxTimeoutMs: 5_000 });
    await clock.advance(999);
    expect(budget.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(budget.ended).toBe('silent');
    expect(budget.signal.reason).toBe('timed out');
  });

  it('starts again with each progress, but not beyond the ceiling', async () => {
    const clock = fakeClock();
    using budget = startCallBudget(clock, { timeoutMs: 1_000, maxTimeoutMs: 5_000 });
    for (let i = 0; i < 12; i += 1) {
      await clock.advance(400);
      budget.progressed();
    }
    expect(budget.ended).toBeUndefined();
    await clock.advance(200);
    expect(budget.ended).toBe('too_long');
  });

  it('keeps the first reason, and no timer', async () => {
    const clock = fakeClock();
    using budget = startCallBudget(clock, { timeoutMs: 1_000, maxTimeoutMs: 1_000 });
    budget.end('cancelled');
    budget.progressed();
    await clock.advance(2_000);
    expect(budget.ended).toBe('cancelled');
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('the time that a call gets', () => {
  const settings = { defaultTimeoutMs: 60_000, maxTimeoutMs: 900_000 };
  it.each([
    ['nothing asked', undefined, undefined, 60_000],
    ['asked by the caller', 5_000, undefined, 5_000],
    ['asked above the ceiling', 5_000_000, undefined, 900_000],
    ['not positive', 0, undefined, 60_000],
    ['set in the entry', 5_000, 7_000, 7_000],
    ['set above the ceiling', 5_000, 9_000_000, 900_000],
    ['set to 0', 5_000, 0, 5_000],
    ['set negative', undefined, -1, 60_000],
  ])('%s', (_what, requestedMs, entryMs, expected) => {
    expect(callTimeoutMs(requestedMs, entryMs, settings)).toBe(expected);
  });
});
