import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LoopResult, LoopRun } from '../loop/loop-run.ts';
import type { SubagentLab } from './__fixtures__/subagent-lab.ts';
import { minuteMs, namespace, openSubagentLab, result } from './__fixtures__/subagent-lab.ts';
import type { LateNotice } from './task-inbox.ts';

let lab: SubagentLab;
beforeEach(async () => {
  lab = await openSubagentLab();
});
afterEach(() => lab[Symbol.asyncDispose]());

describe('background tasks of a subagent', () => {
  const parked = (run: LoopRun, id: string): LoopResult => {
    run.onEvent?.({
      type: 'tool-end',
      id: 'c1',
      name: 'slow__job',
      status: 'parked',
      durationMs: 1,
      result: 'goes on',
      handle: { kind: 'task', id, expiresAt: '2026-01-01T01:00:00Z' },
    });
    return result('I started the job.');
  };
  const late = (id: string, text: string): LateNotice => ({
    namespace: `subagent/${id}`,
    kind: 'task',
    text,
    key: `subagent/${id}/mcp-task/slow/mt_1/result`,
  });

  it('are waited for, and their results lead to another round', async () => {
    lab.openTasks = ['mt_1'];
    lab.answer = async (run) => (lab.runs.length === 1 ? parked(run, 'mt_1') : result('The job gave 7.'));
    const id = await lab.spawn('run the job');
    await lab.settle();
    await lab.clock.advance(30_000);
    expect(lab.notices).toEqual([]);
    lab.openTasks = [];
    await lab.subagents.notify(late(id, 'The background task mt_1 has finished: 7'));
    await lab.told(1);
    expect(lab.runs).toHaveLength(2);
    expect(lab.runs[1]?.messages).toMatchObject([
      { role: 'user', content: 'run the job' },
      { role: 'assistant', content: 'I started the job.' },
      { role: 'user', content: expect.stringContaining('mt_1 has finished: 7') as string },
    ]);
    expect(lab.notices).toHaveLength(1);
    expect(lab.notices[0]?.text).toContain('The job gave 7.');
  });

  it('that ended while it still worked are told to it, once', async () => {
    lab.answer = async (run) => {
      if (lab.runs.length > 1) return result('With 7.');
      const done = parked(run, 'mt_1');
      const notice = late(run.namespace.slice('subagent/'.length), 'mt_1 gave 7');
      await lab.subagents.notify(notice);
      await lab.subagents.notify(notice);
      return done;
    };
    await lab.spawn('x');
    await lab.told(1);
    expect(lab.runs).toHaveLength(2);
    expect(JSON.stringify(lab.runs[1]?.messages).match(/mt_1 gave 7/g)).toHaveLength(1);
  });

  it('are waited for a moment when they are off the list and their results on the way', async () => {
    lab.answer = async (run) => (lab.runs.length === 1 ? parked(run, 'mt_1') : result('With 7.'));
    const id = await lab.spawn('x');
    await lab.settle();
    await lab.clock.advance(1_000);
    await lab.subagents.notify(late(id, 'mt_1 gave 7'));
    await lab.told(1);
    expect(lab.runs).toHaveLength(2);
  });

  it('that somebody else cancelled are not waited for', async () => {
    lab.answer = async (run) => parked(run, 'mt_1');
    await lab.spawn('x');
    await lab.settle();
    await lab.clock.advance(2_000);
    await lab.told(1);
    expect(lab.runs).toHaveLength(1);
  });

  it('give way to the time limit', async () => {
    lab.openTasks = ['mt_1'];
    lab.answer = async (run) => parked(run, 'mt_1');
    await lab.spawn('x', { timeoutMs: minuteMs });
    await lab.settle();
    await lab.clock.advance(minuteMs);
    await lab.told(1);
    expect(lab.notices[0]?.text).toContain('timed out');
    expect(lab.cancelledTasks).toEqual([]);
  });

  it('whose result comes when it has ended are told to its conversation', async () => {
    const id = await lab.spawn('x');
    await lab.told(1);
    await lab.settle();
    await lab.subagents.notify(late(id, 'mt_1 gave 7'));
    expect(lab.notices[1]).toEqual({
      namespace,
      kind: 'task',
      key: `subagent/${id}/mcp-task/slow/mt_1/result`,
      text: `[Subagent task ${id} has ended, and this came for it later]: mt_1 gave 7`,
    });
  });

  it('of nobody that is known, and calls that a restart interrupted, are told to nobody', async () => {
    await lab.subagents.notify(late('ffffffffffff', 'x'));
    const id = await lab.spawn('x');
    await lab.told(1);
    await lab.subagents.notify({ ...late(id, 'x'), kind: 'interrupted' });
    expect(lab.notices).toHaveLength(1);
  });
});
