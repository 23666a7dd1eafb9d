import { expect, it } from 'vitest';
import { createSlots } from './slots.ts';

const never = new AbortController().signal;

it('lets the longest waiting go first and refuses more than may wait', async () => {
  const slots = createSlots(1, 2);
  const order: string[] = [];
  const first = await slots.take(never);
  const others = ['a', 'b'].map(async (name) => {
    using _slot = await slots.take(never);
    order.push(name);
  });
  await expect(slots.take(never)).rejects.toMatchObject({ code: 'limit_reached', retry: 'later' });
  expect([slots.running, slots.waiting]).toEqual([1, 2]);
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  await Promise.all(others);
  expect(order).toEqual(['a', 'b']);
  expect([slots.running, slots.waiting]).toEqual([0, 0]);
});

it('forgets who gave up waiting, and loses no slot to who gives up as it is given one', async () => {
  const slots = createSlots(1, 2);
  const first = await slots.take(never);
  const [early, late] = [new AbortController(), new AbortController()];
  const gaveUp = expect(slots.take(early.signal)).rejects.toMatchObject({ code: 'cancelled' });
  const gaveUpLate = expect(slots.take(late.signal)).rejects.toMatchObject({ code: 'cancelled' });
  early.abort();
  await gaveUp;
  expect(slots.waiting).toBe(1);
  late.abort();
  first[Symbol.dispose]();
  await gaveUpLate;
  expect([slots.running, slots.waiting]).toEqual([0, 0]);
});
