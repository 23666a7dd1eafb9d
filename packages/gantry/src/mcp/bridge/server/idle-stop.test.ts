import { expect, it } from 'vitest';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { createIdleStop } from './idle-stop.ts';

const make = (idleMs: number) => {
  const clock = fakeClock();
  const idle: number[] = [];
  return { clock, idle, stop: createIdleStop(clock, idleMs, () => idle.push(clock.elapsedMs())) };
};

it('waits until the last of several users has been gone for the whole time', async () => {
  const { clock, idle, stop } = make(1_000);
  const [first, second] = [stop.use(), stop.use()];
  first();
  first();
  await clock.advance(5_000);
  expect(stop.isUsed()).toBe(true);
  expect(idle).toEqual([]);
  second();
  await clock.advance(999);
  expect(idle).toEqual([]);
  await clock.advance(1);
  expect(idle).toEqual([6_000]);
});

it('begins again with every use', async () => {
  const { clock, idle, stop } = make(1_000);
  stop.restart();
  await clock.advance(900);
  stop.use()();
  await clock.advance(900);
  expect(idle).toEqual([]);
});

it.each([
  ['0 means never', 0, false],
  ['it is disposed', 1_000, true],
])('is never idle when %s', async (_why, idleMs, isDisposed) => {
  const { clock, idle, stop } = make(idleMs);
  stop.restart();
  if (isDisposed) stop[Symbol.dispose]();
  await clock.advance(10_000);
  expect(idle).toEqual([]);
});
