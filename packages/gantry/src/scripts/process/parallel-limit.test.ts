import { describe, expect, it } from 'vitest';
import { createParallelLimit } from './parallel-limit.ts';

describe('createParallelLimit', () => {
  it('lets as many in as there are places, the others in their order', async () => {
    const limit = createParallelLimit(1);
    const order: string[] = [];
    const leave = await limit.enter();
    const second = limit.enter().then((leaveToo) => (order.push('second'), leaveToo));
    const third = limit.enter().then((leaveToo) => (order.push('third'), leaveToo));
    expect(order).toEqual([]);
    leave();
    (await second)();
    (await third)();
    expect(order).toEqual(['second', 'third']);
  });

  it('gives the place of one that gave up to the next', async () => {
    const limit = createParallelLimit(1);
    const leave = await limit.enter();
    const controller = new AbortController();
    const impatient = limit.enter(controller.signal);
    const patient = limit.enter();
    controller.abort();
    await expect(impatient).rejects.toMatchObject({ code: 'cancelled' });
    leave();
    (await patient)();
  });

  it('passes a turn on that came in the moment of giving up', async () => {
    const limit = createParallelLimit(1);
    const leave = await limit.enter();
    const controller = new AbortController();
    const impatient = limit.enter(controller.signal);
    controller.abort();
    leave();
    await expect(impatient).rejects.toMatchObject({ code: 'cancelled' });
    (await limit.enter())();
  });
});
