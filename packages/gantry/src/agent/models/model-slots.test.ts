import { expect, it } from 'vitest';
import { createModelSlots } from './model-slots.ts';

const never = new AbortController().signal;

it('makes as many calls at once as it is told, and lets others in as they end, in their sequence', async () => {
  const slots = createModelSlots(2);
  const done: string[] = [];
  const [first, second] = [await slots.take({ signal: never }), await slots.take({ signal: never })];
  const third = slots.take({ signal: never }).then((slot) => (done.push('third'), slot));
  const fourth = slots.take({ signal: never }).then((slot) => (done.push('fourth'), slot));
  first[Symbol.dispose]();
  const slot = await third;
  expect(done).toEqual(['third']);
  // Twice is once: a slot that was given back belongs to another.
  first[Symbol.dispose]();
  second[Symbol.dispose]();
  slot[Symbol.dispose]();
  await fourth;
  expect(done).toEqual(['third', 'fourth']);
});

it('lets in what nobody waits for when no other call waits', async () => {
  const slots = createModelSlots(1);
  const done: string[] = [];
  const running = await slots.take({ signal: never });
  const background = slots.take({ isBackground: true, signal: never }).then((slot) => (done.push('background'), slot));
  const user = slots.take({ signal: never }).then((slot) => (done.push('user'), slot));
  running[Symbol.dispose]();
  (await user)[Symbol.dispose]();
  (await background)[Symbol.dispose]();
  expect(done).toEqual(['user', 'background']);
});

it('forgets who gives up waiting', async () => {
  const slots = createModelSlots(1);
  const running = await slots.take({ signal: never });
  const controller = new AbortController();
  const gaveUp = slots.take({ signal: controller.signal });
  const next = slots.take({ signal: never });
  controller.abort(new Error('enough'));
  await expect(gaveUp).rejects.toMatchObject({ code: 'cancelled' });
  running[Symbol.dispose]();
  await next;
  await expect(slots.take({ signal: controller.signal })).rejects.toMatchObject({ code: 'cancelled' });
});

it('makes every call at once where no number is set', async () => {
  const slots = createModelSlots(undefined);
  await Promise.all(Array.from({ length: 100 }, () => slots.take({ signal: never })));
});
