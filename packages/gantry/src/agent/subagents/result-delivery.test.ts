import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LoopResult } from '../loop/loop-run.ts';
import type { SubagentLab } from './__fixtures__/subagent-lab.ts';
import { caller, minuteMs, namespace, openSubagentLab, result, task } from './__fixtures__/subagent-lab.ts';

let lab: SubagentLab;
beforeEach(async () => {
  lab = await openSubagentLab();
});
afterEach(() => lab[Symbol.asyncDispose]());

describe('the outputs of a subagent', () => {
  it('stay four hours, and the notice names them', async () => {
    lab.answer = async ({ namespace: own }) => {
      await lab.memory.save(`${own}/table`, 'rows', { ttlMs: minuteMs, category: 'data', tags: ['t'] });
      await lab.memory.stash({ namespace: own, key: 'chunk0', text: 'x', category: 'tool-result', ttlMs: minuteMs });
      return result('See the table.');
    };
    const id = await lab.spawn('x');
    await lab.told(1);
    expect(lab.notices[0]?.text).toContain(`- \`subagent/${id}/table\`\n- \`subagent/${id}/result\``);
    expect(lab.notices[0]?.text).not.toContain('chunk0');
    await lab.clock.advance(239 * minuteMs);
    expect(await lab.memory.get(`subagent/${id}/table`)).toMatchObject({ text: 'rows', category: 'data', tags: ['t'] });
    expect((await lab.memory.get(`subagent/${id}/result`))?.text).toBe('See the table.');
    expect(await lab.memory.get(`subagent/${id}/chunk0`)).toBeUndefined();
    await lab.clock.advance(2 * minuteMs);
    expect(await lab.memory.get(`subagent/${id}/table`)).toBeUndefined();
  });

  it('hold the whole of an answer that is too long to be told', async () => {
    const long = 'word '.repeat(5_000);
    lab.answer = async () => result(long);
    const id = await lab.spawn('x');
    await lab.told(1);
    expect(lab.notices[0]?.text.length).toBeLessThan(10_000);
    expect(lab.notices[0]?.text).toContain('chars omitted');
    expect((await lab.memory.get(`subagent/${id}/result`))?.text).toBe(long);
  });

  it('keep what it saved under the name that its last words would take', async () => {
    lab.answer = async ({ namespace: own }) => {
      await lab.memory.save(`${own}/result`, 'mine');
      return result('words');
    };
    const id = await lab.spawn('x');
    await lab.told(1);
    expect((await lab.memory.get(`subagent/${id}/result`))?.text).toBe('mine');
    expect((await lab.memory.get(`subagent/${id}/last-words`))?.text).toBe('words');
  });
});

describe('several subagents of a conversation', () => {
  const endings = new Map<string, PromiseWithResolvers<LoopResult>>();
  beforeEach(() => {
    endings.clear();
    lab.answer = ({ messages }) => {
      const ending = Promise.withResolvers<LoopResult>();
      endings.set(JSON.stringify(messages[0]?.content), ending);
      return ending.promise;
    };
  });
  const end = async (name: string): Promise<void> => {
    await lab.settle();
    endings.get(`"${name}"`)?.resolve(result(`${name} is done`));
    await lab.settle();
  };

  it('are told together when the last has ended', async () => {
    await Promise.all([lab.spawn('a'), lab.spawn('b')]);
    await end('a');
    expect(lab.notices).toEqual([]);
    await end('b');
    await lab.told(1);
    expect(lab.notices[0]?.text).toMatch(/^2 subagents have ended. Put their results together/);
    expect(lab.notices[0]?.text).toMatch(/a is done[^]*b is done/);
    await lab.settle();
    expect(lab.notices).toHaveLength(1);
  });

  it('are told one by one where that was wanted', async () => {
    await Promise.all([lab.spawn('a', { consolidate: false }), lab.spawn('b')]);
    await end('a');
    await lab.told(1);
    expect(lab.notices[0]?.text).toContain('a is done');
    await end('b');
    await lab.told(2);
  });

  it('do not wait for those of another conversation', async () => {
    await lab.spawn('a');
    await lab.subagents.spawn(task('b'), { ...caller, namespace: 'session/s2' });
    await end('a');
    await lab.told(1);
    expect(lab.notices).toMatchObject([{ namespace }]);
  });

  it('are told when the one that the others waited for is cancelled', async () => {
    await lab.spawn('a');
    const id = await lab.spawn('b');
    await end('a');
    await lab.subagents.cancel(id, namespace);
    expect(lab.notices).toMatchObject([{ kind: 'subagent' }]);
    expect(lab.notices[0]?.text).toMatch(/a is done[^]*completed with error: It was cancelled/);
  });
});
