import { expect, it } from 'vitest';
import { fakeClock } from '../../testing/fake-clock.ts';
import { awaitFirstTools } from './first-tools.ts';

const start = (firstReady?: () => Promise<void>) => {
  const clock = fakeClock();
  return { clock, first: awaitFirstTools(clock, firstReady, { listMs: 250, callMs: 3_000 }) };
};

it('has calls wait longer for the first tools than lists, and neither for ever', async () => {
  const { clock, first } = start(() => new Promise(() => {}));
  const lists = first.pending;
  const calls = first.pendingForCalls;
  await clock.advance(250);
  await lists;
  expect([first.pending, first.pendingForCalls === calls]).toEqual([undefined, true]);
  await clock.advance(2_750);
  await calls;
  expect(first.pendingForCalls).toBeUndefined();
});

it.each([
  ['are there', () => Promise.resolve()],
  ['cannot be had', () => Promise.reject(new Error('no'))],
])('waits no longer once the tools %s', async (_what, firstReady) => {
  const { first } = start(firstReady);
  await Promise.all([first.pending, first.pendingForCalls]);
  expect([first.pending, first.pendingForCalls]).toEqual([undefined, undefined]);
});

it('waits for nothing where there is nothing to wait for', () => {
  const { first } = start();
  expect([first.pending, first.pendingForCalls]).toEqual([undefined, undefined]);
});
