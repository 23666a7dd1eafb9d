import { describe, expect, it } from 'vitest';
import { GantryError } from '../../../../kernel/errors.ts';
import type { JsonObject } from '../../../../kernel/json.ts';
import { silentLog } from '../../../../kernel/log.ts';
import type { Notice } from '../../../wire/sessions/exchange.ts';
import type { ServeTask } from './__fixtures__/fake-task-way.ts';
import { fakeTaskWay } from './__fixtures__/fake-task-way.ts';
import { holdTask } from './held-task.ts';

const never = new AbortController().signal;
const ask = (id: string, method = 'elicitation/create', message = 'Which?') => ({
  jsonrpc: '2.0',
  id,
  method,
  params: { message, _meta: { 'io.modelcontextprotocol/related-task': { taskId: 't1' } } },
});
const refusal = new GantryError('execution_failed', 'No such task', {
  details: { rpc: { code: -32_602, message: 'No such task' } },
});

const make = (serve: ServeTask) => {
  const way = fakeTaskWay(serve);
  const ends: string[] = [];
  let notify: (notice: Notice) => void = () => {};
  const task = holdTask({
    target: { name: 's', isDeclined: (params) => JSON.stringify(params).includes('password') },
    taskId: 't1',
    way: { ...way, listen: (listener) => void (notify = listener) },
    says: { clientInfo: {}, capabilities: { elicitation: { form: {} } }, logLevel: undefined },
    end: (how) => ends.push(how),
    log: silentLog,
  });
  return { way, task, ends, notify: (notice: Notice) => notify(notice) };
};
const until = async (ready: () => boolean): Promise<void> => await expect.poll(ready).toBe(true);

describe('a task of a server of 2025', () => {
  it('asks its client what that can answer, declines what nobody may, and refuses the rest', async () => {
    const { way, task } = make(async (method, _params, say) => {
      if (method === 'tasks/get') return { taskId: 't1', status: 'input_required' };
      for (const one of [ask('a'), ask('b', 'elicitation/create', 'password'), ask('c', 'roots/list')]) say(one);
      return await new Promise(() => {});
    });
    await until(() => way.told.length === 2);
    expect(way.told).toMatchObject([
      { id: 'b', result: { action: 'decline' } },
      { id: 'c', error: { code: -32_601 } },
    ]);
    expect(await task.state(never)).toMatchObject({
      status: 'input_required',
      inputRequests: { q1: { method: 'elicitation/create', params: { message: 'Which?' } } },
    });
    await task.answer({ q1: { action: 'accept' }, q2: { action: 'accept' } });
    expect(way.told.at(-1)).toMatchObject({ id: 'a', result: { action: 'accept' } });
    // Whatever its server says, it asks nothing now.
    expect(await task.state(never)).toMatchObject({ status: 'working' });
    await task.answer({ q1: { action: 'decline' } });
    expect(way.told).toHaveLength(3);
  });

  it('is waited for anew when that broke off, and no more when it is over', async () => {
    let state: JsonObject = { status: 'working' };
    const { way, task, ends } = make(async (method) => {
      if (method === 'tasks/get') return state;
      if (state['status'] === 'working') throw new GantryError('server_unreachable', 'gone');
      return { content: [] };
    });
    await until(() => way.count('tasks/result') === 1);
    await task.state(never);
    await until(() => way.count('tasks/result') === 2);
    state = { status: 'completed' };
    expect(await task.state(never)).toMatchObject({ status: 'completed', result: { content: [] } });
    expect([way.count('tasks/result'), task.isOver]).toEqual([3, true]);
    task[Symbol.dispose]();
    task[Symbol.dispose]();
    expect(ends).toEqual(['ended']);
  });

  it('keeps its questions when the request that they came on breaks off, each once and no more than fifty', async () => {
    let breakOff: (error: unknown) => void = () => {};
    let questions = [ask('a1')];
    const { way, task } = make(async (method, _params, say) => {
      if (method === 'tasks/get') return { status: 'input_required' };
      for (const one of questions) say(one);
      return await new Promise((_resolve, reject) => (breakOff = reject));
    });
    const keys = async (): Promise<string[]> => Object.keys((await task.state(never))['inputRequests'] ?? {});
    await expect.poll(keys).toEqual(['q1']);
    questions = [ask('a1'), ask('a2')];
    breakOff(new GantryError('server_unreachable', 'gone'));
    await expect.poll(keys).toEqual(['q1', 'q2']);
    questions = Array.from({ length: 50 }, (_, index) => ask(`b${index}`));
    breakOff(new GantryError('server_unreachable', 'gone'));
    await expect.poll(keys).toEqual(questions.map((_, index) => `q${index + 3}`));
    await task.answer({ q1: { action: 'accept' }, q3: { action: 'decline' } });
    expect(way.told.filter(({ result }) => result !== undefined)).toMatchObject([{ id: 'b0' }]);
  });

  it('that is let go of while it runs is not waited for any more', async () => {
    const { way, task, ends } = make(() => new Promise(() => {}));
    await until(() => way.count('tasks/result') === 1);
    task[Symbol.dispose]();
    await until(() => way.told.some(({ method }) => method === 'notifications/cancelled'));
    expect(ends).toEqual(['broken']);
  });

  it.each([
    ['failed', { content: [], isError: true }, { status: 'completed', result: { isError: true } }],
    ['failed', refusal, { status: 'failed', error: { code: -32_602, message: 'No such task' } }],
    ['completed', { content: [] }, { status: 'completed', result: { content: [] } }],
    ['cancelled', { content: [] }, { status: 'cancelled' }],
  ] as const)('that has %s is told with what it came to (%#)', async (status, end, told) => {
    const { task } = make(async (method) => {
      if (method === 'tasks/get') return { status };
      if (GantryError.is(end)) throw end;
      return { ...end };
    });
    const state = await task.state(never);
    expect(state).toMatchObject(told);
    if (status === 'cancelled') expect(state).not.toHaveProperty('result');
  });

  it('may be cancelled when it is over, but not when it is not there', async () => {
    const serve =
      (isThere: boolean): ServeTask =>
      async (method) => {
        if (method === 'tasks/get' && isThere) return { status: 'completed' };
        if (method === 'tasks/result') return await new Promise(() => {});
        throw refusal;
      };
    await make(serve(true)).task.cancel(never);
    await expect(make(serve(false)).task.cancel(never)).rejects.toThrow('No such task');
  });

  it('says when its state changes, of itself and of no other', async () => {
    const { task, notify } = make(() => new Promise(() => {}));
    let changes = 0;
    const watching = task.watch?.(() => (changes += 1));
    const method = 'notifications/tasks/status';
    notify({ method, params: { taskId: 't1', status: 'completed' } });
    notify({ method, params: { taskId: 't2', status: 'completed' } });
    watching?.[Symbol.dispose]();
    notify({ method, params: { taskId: 't1', status: 'completed' } });
    expect(changes).toBe(1);
  });
});
