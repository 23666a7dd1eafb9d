import { describe, expect, it } from 'vitest';
import { delay } from '../../../../kernel/abort.ts';
import { GantryError } from '../../../../kernel/errors.ts';
import type { JsonObject } from '../../../../kernel/json.ts';
import { fakeClock } from '../../../../testing/fake-clock.ts';
import { fakeTaskWay } from './__fixtures__/fake-task-way.ts';
import { callAsTask } from './call-as-task.ts';
import { resultOf } from './task-way.ts';

const never = new AbortController().signal;
const task = { taskId: 't1', status: 'working', pollInterval: 500 };
const question = { jsonrpc: '2.0', id: 'x', method: 'elicitation/create', params: { message: 'Which?' } };

/** A server that makes a task of every call, asks once before its end if it is to, and ends it when told. */
const make = ({ asks = false, cancels = true } = {}) => {
  const clock = fakeClock();
  const ended = Promise.withResolvers<JsonObject>();
  const way = fakeTaskWay(async (method, _params, say) => {
    switch (method) {
      case 'tools/call':
        return { task };
      case 'tasks/get':
        return task;
      case 'tasks/cancel':
        return cancels ? {} : await new Promise(() => {});
      default:
        if (asks) say(question);
        return await ended.promise;
    }
  });
  const heard: string[] = [];
  const call = callAsTask(way, { name: 'dig' }, { clock, mask: (text) => text, onTrouble: () => {} });
  call.hear(({ method }) => heard.push(method));
  return { clock, way, call, heard, end: ended.resolve };
};

describe('a call that its server runs as a task', () => {
  it('has the end of the task as its result, and is heard of at each poll until then', async () => {
    const { clock, way, call, heard, end } = make();
    const result = resultOf(call, never);
    await clock.advance(1_600);
    expect(way.count('tasks/get')).toBe(3);
    expect(heard).toEqual(Array(3).fill('notifications/tasks/status'));
    end({ content: [] });
    expect(await result).toEqual({ content: [] });
    await clock.advance(60_000);
    expect([way.count('tasks/get'), way.count('tasks/cancel'), clock.pendingTimers]).toEqual([3, 0, 0]);
  });

  it('is asked what the task asks', async () => {
    const { clock, way, call, end } = make({ asks: true });
    await clock.advance(1);
    expect(await call.next(never)).toMatchObject({ asked: [{ id: 'x', method: 'elicitation/create' }] });
    await call.answer('x', { result: { action: 'accept' } });
    expect(way.told).toEqual([{ jsonrpc: '2.0', id: 'x', result: { action: 'accept' } }]);
    end({ content: [] });
    expect(await call.next(never)).toEqual({ result: { content: [] } });
  });

  it('cancels the task when it is given up, and asks for it no more', async () => {
    const { clock, way, call } = make();
    await clock.advance(600);
    call.abandon();
    await call.settled();
    await clock.advance(60_000);
    expect([way.count('tasks/get'), way.count('tasks/cancel'), clock.pendingTimers]).toEqual([1, 1, 0]);
  });

  it.each([
    ['soon', 1_000, 1],
    ['never', 60_000, 0],
  ])(
    'cancels the task that it hears of when it was given up before, where the server says so %s',
    async (_when, ms, cancelled) => {
      const clock = fakeClock();
      const way = fakeTaskWay(async (method) => {
        if (method !== 'tools/call') return {};
        await delay(clock, ms);
        return { task };
      });
      const call = callAsTask(way, {}, { clock, mask: (text) => text, onTrouble: () => {} });
      call.abandon();
      const settled = call.settled();
      await clock.advance(10_000);
      await settled;
      expect(way.seen).toEqual(['tools/call', ...Array<string>(cancelled).fill('tasks/cancel')]);
      // By then a server that has not answered has been told that the call itself is given up.
      expect(way.told).toHaveLength(1 - cancelled);
      await clock.advance(60_000);
      expect(clock.pendingTimers).toBe(0);
    },
  );

  it('waits for some seconds only until that is heard', async () => {
    const { clock, call } = make({ cancels: false });
    await clock.advance(1);
    call.abandon();
    let isSettled = false;
    void call.settled().then(() => (isSettled = true));
    await clock.advance(9_000);
    expect(isSettled).toBe(false);
    await clock.advance(1_000);
    expect([isSettled, clock.pendingTimers]).toEqual([true, 0]);
  });

  it('has the answer of a server that makes no task of it', async () => {
    const clock = fakeClock();
    const way = fakeTaskWay(async () => ({ content: ['at once'] }));
    const call = callAsTask(way, {}, { clock, mask: (text) => text, onTrouble: () => {} });
    expect(await resultOf(call, never)).toEqual({ content: ['at once'] });
    expect(way.seen).toEqual(['tools/call']);
  });

  it('goes on when the connection breaks on which its end was waited for, but not when the task is gone', async () => {
    const clock = fakeClock();
    const unknown = new GantryError('execution_failed', 'gone', {
      details: { rpc: { code: -32_602, message: 'gone' } },
    });
    let isKnown = true;
    const way = fakeTaskWay(async (method) => {
      if (method === 'tools/call') return { task };
      if (method === 'tasks/result') throw new GantryError('server_unreachable', 'broke');
      if (!isKnown) throw unknown;
      return task;
    });
    const call = callAsTask(way, {}, { clock, mask: (text) => text, onTrouble: () => {} });
    const result = resultOf(call, never);
    result.catch(() => undefined);
    await clock.advance(2_100);
    expect(way.count('tasks/result')).toBe(3);
    isKnown = false;
    await clock.advance(1_000);
    await expect(result).rejects.toThrow('gone');
    expect(clock.pendingTimers).toBe(0);
  });
});
