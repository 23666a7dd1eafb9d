import { expect, it } from 'vitest';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { createCircuitBreaker } from './circuit-breaker.ts';

const make = (options: { retryCount?: number; random?: () => number } = {}) => {
  const clock = fakeClock();
  const breaker = createCircuitBreaker({
    clock,
    retryCount: 2,
    retryBaseDelayMs: 2_000,
    coolDownMs: 60_000,
    random: () => 0,
    ...options,
  });
  const fail = (times: number): void => {
    for (let i = 0; i < times; i += 1) breaker.failed();
  };
  return { clock, breaker, fail };
};

it.each([
  [1, 0, 2_000],
  [2, 0, 4_000],
  [3, 60_000, 8_000],
  [4, 120_000, 16_000],
  [20, 600_000, 2_000 * 2 ** 19],
])('after %d failures leaves the server alone for %d ms and else waits %d ms', (failures, openForMs, delayMs) => {
  const { breaker, fail } = make();
  fail(failures);
  expect(breaker.openForMs()).toBe(openForMs);
  expect(breaker.retryDelayMs()).toBe(delayMs);
});

it('does not open before the attempts that come soon are used up, and never before the third failure', () => {
  const patient = make({ retryCount: 5 });
  patient.fail(5);
  expect(patient.breaker.openForMs()).toBe(0);
  patient.fail(1);
  expect(patient.breaker.openForMs()).toBe(60_000);
  const hasty = make({ retryCount: 0 });
  hasty.fail(2);
  expect(hasty.breaker.openForMs()).toBe(0);
});

it('lets one attempt through when the cool-down is over, and is open again at once when that fails', async () => {
  const { clock, breaker, fail } = make();
  fail(3);
  await clock.advance(59_999);
  expect(breaker.openForMs()).toBe(1);
  await clock.advance(1);
  expect(breaker.openForMs()).toBe(0);
  fail(1);
  expect(breaker.openForMs()).toBe(120_000);
});

it('remembers a server whose connections do not last, and forgets one that has proved itself', () => {
  const { breaker, fail } = make();
  fail(3);
  breaker.close();
  expect(breaker.openForMs()).toBe(0);
  fail(1);
  expect(breaker.openForMs()).toBe(120_000);
  breaker.reset();
  fail(1);
  expect(breaker.openForMs()).toBe(0);
});

it('spreads its waits by up to a tenth', () => {
  const { breaker, fail } = make({ random: () => 1 });
  fail(3);
  expect(breaker.openForMs()).toBeCloseTo(66_000);
  expect(breaker.retryDelayMs()).toBeCloseTo(8_800);
});
