import { describe, expect, it } from 'vitest';
import { fakeClock } from '../../../../testing/fake-clock.ts';
import type { HeldTask } from './held-task.ts';
import { createHeldTasks } from './held-tasks.ts';

const minute = 60_000;

const make = (client = 'ann', isOver = false) => {
  const state = { isLetGo: false };
  const task = { isOver, [Symbol.dispose]: () => (state.isLetGo = true) } as unknown as HeldTask;
  return { state, owned: { task, client, owner: client } };
};

describe('tasks that are held', () => {
  it('are found by their owners alone', async () => {
    const tasks = createHeldTasks(fakeClock(), undefined);
    const { owned } = make();
    await tasks.hold('one', owned);
    expect([tasks.find('one', 'ann'), tasks.find('one', 'ben'), tasks.find('two', 'ann')]).toEqual([
      owned.task,
      undefined,
      undefined,
    ]);
  });

  it('are let go of when nobody has asked for them for an hour, and some minutes after they are over', async () => {
    const clock = fakeClock();
    const tasks = createHeldTasks(clock, undefined);
    const [running, over] = [make(), make('ann', true)];
    await tasks.hold('running', running.owned);
    await tasks.hold('over', over.owned);
    await clock.advance(4 * minute);
    tasks.find('running', 'ann');
    await clock.advance(56 * minute);
    expect([running.state.isLetGo, over.state.isLetGo]).toEqual([false, true]);
    await clock.advance(10 * minute);
    expect([running.state.isLetGo, clock.pendingTimers]).toEqual([true, 0]);
  });

  it('are so many of a client at most; the one that was not asked for the longest makes room', async () => {
    const tasks = createHeldTasks(fakeClock(), undefined);
    const made = Array.from({ length: 50 }, () => make());
    const other = make('ben');
    await tasks.hold('other', other.owned);
    for (const [index, { owned }] of made.entries()) await tasks.hold(`t${index}`, owned);
    tasks.find('t0', 'ann');
    await tasks.hold('last', make().owned);
    expect(made.map(({ state }) => state.isLetGo).indexOf(true)).toBe(1);
    expect(other.state.isLetGo).toBe(false);
  });

  it('are let go of when the gateway stops', async () => {
    const clock = fakeClock();
    const tasks = createHeldTasks(clock, undefined);
    const { state, owned } = make();
    await tasks.hold('one', owned);
    tasks[Symbol.dispose]();
    expect([state.isLetGo, clock.pendingTimers]).toEqual([true, 0]);
  });
});
