import { expect, it } from 'vitest';
import { fakeClock } from '../../testing/fake-clock.ts';
import { createChangeNotice } from './change-notice.ts';

const open = () => {
  const clock = fakeClock();
  let fired = 0;
  const notice = createChangeNotice(clock, 100, () => (fired += 1));
  return { clock, notice, fired: () => fired };
};

it('makes one notice of a burst, and another of the next', async () => {
  const { clock, notice, fired } = open();
  notice.changed();
  await clock.advance(60);
  notice.changed();
  await clock.advance(39);
  expect(fired()).toBe(0);
  await clock.advance(1);
  expect(fired()).toBe(1);
  await clock.advance(1_000);
  expect(fired()).toBe(1);
  notice.changed();
  await clock.advance(100);
  expect(fired()).toBe(2);
});

it('fires no more once disposed', async () => {
  const { clock, notice, fired } = open();
  notice.changed();
  notice[Symbol.dispose]();
  await clock.advance(1_000);
  expect(fired()).toBe(0);
});
