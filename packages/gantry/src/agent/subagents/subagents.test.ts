import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GantryError } from '../../kernel/errors.ts';
import { createOpaqueIds } from '../../tool/opaque-ids.ts';
import type { LoopResult } from '../loop/loop-run.ts';
import type { SubagentLab } from './__fixtures__/subagent-lab.ts';
import {
  caller,
  minuteMs,
  namespace,
  openSubagentLab,
  result,
  task,
  untilAborted,
} from './__fixtures__/subagent-lab.ts';

let lab: SubagentLab;
beforeEach(async () => {
  lab = await openSubagentLab();
});
afterEach(() => lab[Symbol.asyncDispose]());
/** How many results went to the bus. */
const results = (): number => lab.published.filter(([topic]) => topic === 'subagent.result').length;

describe('a subagent', () => {
  it('has an id of twelve hex digits, and tells its conversation once how it ended', async () => {
    const id = await lab.spawn('find the answer');
    expect(id).toMatch(/^[0-9a-f]{12}$/);
    await lab.told(1);
    await lab.settle();
    expect(lab.notices).toMatchObject([{ namespace, kind: 'subagent' }]);
    expect(lab.notices[0]?.text).toContain(`[Subagent task ${id} completed]: The answer is 42.`);
    expect(lab.notices[0]?.text).toContain('find the answer');
    expect(results()).toBe(1);
    expect(lab.published.find(([topic]) => topic === 'subagent.result')?.[1].body).toMatchObject({
      taskId: id,
      subagentSessionId: `subagent-${id}`,
      primarySessionId: namespace,
      output: 'The answer is 42.',
      isSuccess: true,
      originatingUserRequest: 'do it',
      toolCallCount: 0,
    });
  });

  it('runs in a namespace of its own, without the conversation, on a tier of its own', async () => {
    const description = 'Investigate and compare the designs, then write a report. '.repeat(8);
    const id = await lab.spawn(description, { background: 'for a talk', inputs: '<input>x</input>', maxIterations: 7 });
    await lab.told(1);
    expect(lab.runs[0]).toMatchObject({ namespace: `subagent/${id}`, tier: 'high', maxToolIterations: 7 });
    expect(lab.runs[0]?.messages).toEqual([{ role: 'user', content: `${description}\n\n<input>x</input>` }]);
    expect(lab.runs[0]?.systemTail?.()).toBe('Today is a day.\n\n# Background\n\nfor a talk');
    expect(lab.runs[0]?.context).toMatchObject({ receivesLateResults: true });
  });

  it('knows the files and messages that its task names by ids of the turn', async () => {
    const ids = createOpaqueIds();
    ids.issue('media', 'attachments/a.png');
    await lab.subagents.spawn(task('look at media_1'), { ...caller, ids });
    await lab.told(1);
    expect(lab.runs[0]?.context?.ids).toBe(ids);
    expect(lab.runs[0]?.messages).toMatchObject([
      { content: expect.stringContaining('- media_1: `attachments/a.png`') },
    ]);
  });

  it('is on the list while it works, and off it when it has ended', async () => {
    const ending = Promise.withResolvers<LoopResult>();
    lab.answer = () => ending.promise;
    const id = await lab.spawn('wait');
    await lab.clock.advance(61_000);
    expect(lab.subagents.list(namespace)).toEqual([{ taskId: id, description: 'wait', elapsedMs: 61_000 }]);
    expect(lab.subagents.list('session/other')).toEqual([]);
    ending.resolve(result('done'));
    await lab.told(1);
    expect(lab.subagents.list(namespace)).toEqual([]);
  });

  it('is one of three at most, however many are started in the same moment', async () => {
    lab.answer = untilAborted;
    const started = await Promise.allSettled(['a', 'b', 'c', 'd', 'e'].map((name) => lab.spawn(name)));
    expect(started.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'fulfilled',
      'rejected',
      'rejected',
    ]);
    await expect(lab.spawn('f')).rejects.toMatchObject({
      code: 'limit_reached',
      message: expect.stringMatching(/^Error: 3 subagents run already/) as string,
    });
  });

  it('frees its place when it ends', async () => {
    for (const name of ['a', 'b', 'c', 'd']) {
      await lab.spawn(name);
      await lab.told(lab.notices.length + 1);
    }
    expect(lab.runs).toHaveLength(4);
  });

  it('does not end with the call that started it', async () => {
    const ending = Promise.withResolvers<LoopResult>();
    lab.answer = () => ending.promise;
    const controller = new AbortController();
    await lab.subagents.spawn(task('go on'), { ...caller, signal: controller.signal });
    controller.abort();
    await lab.settle();
    expect(lab.runs[0]?.signal.aborted).toBe(false);
    ending.resolve(result('still here'));
    await lab.told(1);
    expect(lab.notices[0]?.text).toContain('still here');
  });

  it('ends with one result when it takes too long, whether or not its tools listen', async () => {
    lab.answer = () => new Promise(() => {});
    await lab.spawn('endless', { timeoutMs: 90_000 });
    await lab.settle();
    await lab.clock.advance(89_000);
    expect(lab.notices).toEqual([]);
    await lab.clock.advance(2_000);
    await lab.told(1);
    expect(lab.notices[0]?.text).toContain('completed with error: It timed out after 1.5 min.');
    expect(lab.notices[0]?.kind).toBe('subagent');
    await lab.clock.advance(20 * minuteMs);
    expect([lab.notices.length, results()]).toEqual([1, 1]);
  });

  it('takes ten minutes where nothing else was said', async () => {
    lab.answer = untilAborted;
    await lab.spawn('endless');
    await lab.settle();
    await lab.clock.advance(10 * minuteMs - 1);
    expect(lab.notices).toEqual([]);
    await lab.clock.advance(1);
    await lab.told(1);
  });

  it.each([
    ['fails', new GantryError('model_failed', 'The provider is down.'), 'The provider is down.'],
    ['throws anything', new Error('odd'), 'odd'],
  ])('that %s tells why', async (_, error, text) => {
    lab.answer = async () => Promise.reject(error);
    await lab.spawn('x');
    await lab.told(1);
    expect(lab.notices[0]).toMatchObject({ kind: 'subagent' });
    expect(lab.notices[0]?.text).toContain(`completed with error: ${text}]`);
    expect(lab.published.at(-1)?.[1].body).toMatchObject({ isSuccess: false, error: text });
    await lab.clock.advance(20 * minuteMs);
    expect([lab.notices.length, results()]).toEqual([1, 1]);
  });

  it('that cannot even begin has a result all the same', async () => {
    await lab.subagents[Symbol.asyncDispose]();
    lab.subagents = lab.create({}, false);
    const id = await lab.spawn('x');
    await lab.told(1);
    expect(lab.runs).toEqual([]);
    expect(lab.notices[0]?.text).toContain(`[Subagent task ${id} completed with error: No model is configured`);
    await lab.clock.advance(20 * minuteMs);
    expect([lab.notices.length, results()]).toEqual([1, 1]);
  });

  it('that came to a limit gives what it has, as no success', async () => {
    lab.answer = async () => result('Half of it.', { endedBy: 'iterations' });
    await lab.spawn('x');
    await lab.told(1);
    expect(lab.notices[0]?.text).toContain('completed with error: the limit of tool calls was reached');
    expect(lab.notices[0]?.text).toContain('Half of it.');
  });

  it('tells its result also when the store does not take it', async () => {
    await lab.subagents[Symbol.asyncDispose]();
    const documents = lab.store.documents<unknown>('subagents');
    let writes = 0;
    const failing = {
      ...documents,
      put: (...args: Parameters<typeof documents.put>) =>
        (writes += 1) > 1 ? Promise.reject(new Error('disk full')) : documents.put(...args),
    };
    lab.subagents = lab.create({ store: { ...lab.store, documents: () => failing as never } });
    await lab.spawn('x');
    await lab.told(1);
    expect(lab.notices[0]?.text).toContain('The answer is 42.');
  });

  it('is not started when it cannot be put on record', async () => {
    await lab.subagents[Symbol.asyncDispose]();
    const documents = { ...lab.store.documents('x'), put: () => Promise.reject(new Error('disk full')) };
    lab.subagents = lab.create({ store: { ...lab.store, documents: () => documents as never }, maxConcurrent: 1 });
    await expect(lab.spawn('x')).rejects.toThrow('disk full');
    // The place is free again.
    await expect(lab.spawn('x')).rejects.toThrow('disk full');
    expect(lab.runs).toEqual([]);
  });

  it('has the questions of its servers released when it ends, not before', async () => {
    const ending = Promise.withResolvers<LoopResult>();
    lab.answer = () => ending.promise;
    const id = await lab.spawn('x');
    await lab.settle();
    expect(lab.released).toEqual([]);
    ending.resolve(result('done'));
    await lab.told(1);
    expect(lab.released).toEqual([`subagent/${id}`]);
  });
});

describe('cancelling', () => {
  beforeEach(() => {
    lab.answer = untilAborted;
  });

  it('ends a subagent, which is put on record and needs no answer', async () => {
    const id = await lab.spawn('x');
    await lab.settle();
    lab.openTasks = ['mt_1'];
    expect(await lab.subagents.cancel(id, namespace)).toBe(true);
    expect(lab.runs[0]?.signal.aborted).toBe(true);
    expect(lab.notices).toMatchObject([{ kind: 'interrupted' }]);
    expect(lab.notices[0]?.text).toContain(`[Subagent task ${id} completed with error: It was cancelled.]`);
    expect(lab.cancelledTasks).toEqual(['mt_1']);
    expect(lab.subagents.list(namespace)).toEqual([]);
    expect(results()).toBe(1);
  });

  it('does nothing to an unknown one, one that has ended, and one of another conversation', async () => {
    const id = await lab.spawn('x');
    expect(await lab.subagents.cancel('000000000000', namespace)).toBe(false);
    expect(await lab.subagents.cancel(id, 'session/other')).toBe(false);
    await lab.subagents.cancel(id, namespace);
    expect(await lab.subagents.cancel(id, namespace)).toBe(false);
    expect(lab.notices).toHaveLength(1);
  });

  it('works before the first request of the model', async () => {
    let go = (): void => {};
    await lab.subagents[Symbol.asyncDispose]();
    lab.subagents = lab.create({ today: () => new Promise((resolve) => (go = () => resolve('day'))) });
    const id = await lab.spawn('x');
    await lab.subagents.cancel(id, namespace);
    go();
    await lab.settle();
    expect(lab.notices).toHaveLength(1);
  });

  it('does not wait longer than five seconds', async () => {
    await lab.subagents[Symbol.asyncDispose]();
    const never = Promise.withResolvers<void>();
    lab.subagents = lab.create({
      holdings: {
        openTasks: async () => [],
        cancelTask: async () => {},
        releaseQuestions: () => never.promise,
      },
    });
    const id = await lab.spawn('x');
    await lab.settle();
    const cancelling = lab.subagents.cancel(id, namespace);
    await lab.clock.advance(5_000);
    expect(await cancelling).toBe(true);
    expect(lab.subagents.list(namespace)).toEqual([]);
    never.resolve();
  });
});

describe('reports', () => {
  it('reach the conversation and the bus while it works', async () => {
    lab.answer = async ({ namespace: own }) => {
      await lab.subagents.report(own, 'Found the first part.');
      return result('done');
    };
    const id = await lab.spawn('x');
    await lab.told(2);
    expect(lab.notices.map(({ text, kind }) => [kind, text])).toEqual([
      ['subagent', `[Subagent task ${id} reports]: Found the first part.`],
      ['subagent', expect.stringContaining('done')],
    ]);
    expect(lab.published[0]).toMatchObject([
      'subagent.progress',
      { body: { taskId: id, primarySessionId: namespace, message: 'Found the first part.' } },
    ]);
  });

  it('are twenty at most, and none once it has ended', async () => {
    const refused: unknown[] = [];
    lab.answer = async ({ namespace: own }) => {
      for (let at = 0; at < 22; at += 1)
        await lab.subagents.report(own, `${at}`).catch((error: unknown) => refused.push((error as GantryError).code));
      return result('done');
    };
    const id = await lab.spawn('x');
    await lab.told(3);
    expect(refused).toEqual(['limit_reached', 'limit_reached']);
    await expect(lab.subagents.report(`subagent/${id}`, 'late')).rejects.toMatchObject({ code: 'task_unknown' });
  });

  it('are told at once, then together every half minute, and the last with the result', async () => {
    const goOn = Promise.withResolvers<void>();
    let own = '';
    lab.answer = async ({ namespace: mine }) => {
      own = mine;
      await goOn.promise;
      return result('done');
    };
    const id = await lab.spawn('x');
    await lab.settle();
    for (const message of ['a', 'b', 'c']) await lab.subagents.report(own, message);
    const told = (): unknown[] => lab.notices.map(({ kind, text }) => [kind, text]);
    expect(told()).toEqual([['subagent', `[Subagent task ${id} reports]: a`]]);
    await lab.clock.advance(30_000);
    expect(told().at(-1)).toEqual(['subagent', `[Subagent task ${id} reports]: b\nc`]);
    await lab.subagents.report(own, 'd');
    await lab.clock.advance(29_000);
    expect(told()).toHaveLength(2);
    goOn.resolve();
    await lab.told(4);
    // On record and not answered: the result is, a moment later.
    expect(told().at(2)).toEqual(['interrupted', `[Subagent task ${id} reports]: d`]);
    expect(lab.notices[3]?.text).toContain('completed]: done');
    expect(lab.published.filter(([topic]) => topic === 'subagent.progress')).toHaveLength(4);
    await lab.clock.advance(60_000);
    expect(told()).toHaveLength(4);
  });

  it('that come late are told at once again', async () => {
    const goOn = Promise.withResolvers<void>();
    let own = '';
    lab.answer = async ({ namespace: mine }) => {
      own = mine;
      await goOn.promise;
      return result('done');
    };
    await lab.spawn('x');
    await lab.settle();
    await lab.subagents.report(own, 'a');
    await lab.clock.advance(31_000);
    await lab.subagents.report(own, 'b');
    expect(lab.notices).toHaveLength(2);
    goOn.resolve();
  });
});
