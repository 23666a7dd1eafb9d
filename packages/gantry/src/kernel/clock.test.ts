import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from './clock.ts';

describe('systemClock', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it.each([1, 5, 2 ** 31 - 1, 2 ** 31, 5 * 2 ** 31])('fires once, after exactly %d ms', (delayMs) => {
    let fired = 0;
    systemClock.startTimer(delayMs, () => void (fired += 1));
    vi.advanceTimersByTime(delayMs - 1);
    expect(fired).toBe(0);
    vi.advanceTimersByTime(1 + 2 ** 32);
    expect(fired).toBe(1);
  });

  it('treats a time in the past as now', () => {
    let fired = false;
    systemClock.startTimer(-1000, () => void (fired = true));
    vi.advanceTimersByTime(1);
    expect(fired).toBe(true);
  });

  it.each([
    [undefined, false],
    [{ keepsAlive: false }, false],
    [{ keepsAlive: true }, true],
  ])('lets the process end unless told otherwise: %j', (options, isKept) => {
    vi.useRealTimers();
    const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    const before = timers();
    const timer = systemClock.startTimer(2 ** 31, () => {}, options);
    expect(timers() > before).toBe(isKept);
    timer.stop();
    expect(timers()).toBe(before);
  });

  it('does not fire what was stopped, also in a later stretch of a long wait', () => {
    const fire = (): never => {
      throw new Error('fired');
    };
    const short = systemClock.startTimer(10, fire);
    const long = systemClock.startTimer(2 ** 31 + 10, fire);
    vi.advanceTimersByTime(5);
    short.stop();
    vi.advanceTimersByTime(2 ** 31);
    long.stop();
    long.stop();
    expect(vi.getTimerCount()).toBe(0);
  });
});
