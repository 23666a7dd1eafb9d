import { expect, it } from 'vitest';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { createCoalescer } from './coalesce.ts';

it('turns many requests into one run after the window', async () => {
  const clock = fakeClock();
  let runs = 0;
  using coalescer = createCoalescer(clock, 500, async () => void (runs += 1));
  for (let i = 0; i < 200; i += 1) coalescer.request();
  await clock.advance(499);
  expect(runs).toBe(0);
  await clock.advance(1);
  expect(runs).toBe(1);
  await clock.advance(5_000);
  expect(runs).toBe(1);
});

it('queues one more run for all that is asked while one runs, and never runs two at a time', async () => {
  const clock = fakeClock();
  const gates: PromiseWithResolvers<void>[] = [];
  using coalescer = createCoalescer(clock, 500, () => {
    const gate = Promise.withResolvers<void>();
    gates.push(gate);
    return gate.promise;
  });
  coalescer.request();
  await clock.advance(500);
  for (let i = 0; i < 10; i += 1) coalescer.request();
  await clock.advance(5_000);
  expect(gates).toHaveLength(1);
  gates[0]?.resolve();
  await clock.advance(500);
  expect(gates).toHaveLength(2);
});

it('runs nothing once it is disposed', async () => {
  const clock = fakeClock();
  let runs = 0;
  const coalescer = createCoalescer(clock, 500, async () => void (runs += 1));
  coalescer.request();
  coalescer[Symbol.dispose]();
  coalescer.request();
  await clock.advance(1_000);
  expect(runs).toBe(0);
});
