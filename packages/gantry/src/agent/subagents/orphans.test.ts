import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fakeClock } from '../../testing/fake-clock.ts';
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
import type { Subagents } from './subagents.ts';

let lab: SubagentLab;
beforeEach(async () => {
  lab = await openSubagentLab();
});
afterEach(() => lab[Symbol.asyncDispose]());

describe('the end of the process', () => {
  it('ends subagents, and their conversations are told so', async () => {
    lab.answer = untilAborted;
    const id = await lab.spawn('x');
    await lab.settle();
    await lab.subagents[Symbol.asyncDispose]();
    expect(lab.notices).toMatchObject([{ kind: 'interrupted' }]);
    expect(lab.notices[0]?.text).toContain(`${id} completed with error: Gantry was stopped before it had finished.`);
    await expect(lab.spawn('y')).rejects.toMatchObject({ code: 'stopped' });
  });

  describe('without a farewell', () => {
    let others: Subagents[];
    beforeEach(() => {
      others = [lab.create(), lab.create()];
    });
    afterEach(() => Promise.all(others.map((other) => other[Symbol.asyncDispose]())));
    /** Starts subagents in a process that does nothing more: its timers never fire. */
    const die = (...names: string[]): Promise<string[]> => {
      const dead = lab.create({ clock: fakeClock(lab.clock.nowMs()) });
      return Promise.all(names.map((name) => dead.spawn(task(name), caller)));
    };

    it('is told by one of the other processes, once it is certain', async () => {
      lab.answer = () => new Promise(() => {});
      const [id] = await die('x');
      for (const other of others) await other.start();
      expect(lab.notices).toEqual([]);
      await lab.clock.advance(31_000);
      await lab.told(1);
      expect(lab.notices).toMatchObject([{ namespace, kind: 'interrupted' }]);
      expect(lab.notices[0]?.text).toContain(`[Subagent task ${id} completed with error: Gantry ended before it had`);
      for (const other of others) await other.start();
      await lab.clock.advance(120_000);
      expect(lab.notices).toHaveLength(1);
    });

    it('is told at the start of a process that comes later', async () => {
      lab.answer = () => new Promise(() => {});
      await die('x');
      await lab.clock.advance(31_000);
      await others[0]?.start();
      expect(lab.notices).toHaveLength(1);
    });

    it('takes no result away that waited for others', async () => {
      lab.answer = async ({ messages }) =>
        messages[0]?.content === 'quick' ? result('quick is done') : new Promise<LoopResult>(() => {});
      await die('slow', 'quick');
      await lab.settle();
      await lab.clock.advance(31_000);
      await others[0]?.start();
      expect(new Map(lab.notices.map(({ kind, text }) => [kind, text.includes('quick is done')]))).toEqual(
        new Map([
          ['interrupted', false],
          ['subagent', true],
        ]),
      );
    });

    it('is said once, also when the process was only asleep', async () => {
      const ending = Promise.withResolvers<LoopResult>();
      lab.answer = () => ending.promise;
      const asleep = lab.create({ clock: fakeClock(lab.clock.nowMs()) });
      await asleep.spawn(task('x'), caller);
      await lab.clock.advance(31_000);
      await others[0]?.start();
      expect(lab.notices).toHaveLength(1);
      ending.resolve(result('late'));
      await lab.settle();
      await asleep[Symbol.asyncDispose]();
      expect(lab.notices).toHaveLength(1);
    });

    it('is not said of a process that goes on', async () => {
      lab.answer = untilAborted;
      await lab.spawn('x');
      await others[0]?.start();
      await lab.clock.advance(9 * minuteMs);
      expect(lab.notices).toEqual([]);
    });

    it('leaves what was told for a week, so that late results find their way', async () => {
      const id = await lab.spawn('x');
      await lab.told(1);
      await lab.settle();
      await lab.clock.advance(6 * 24 * 60 * minuteMs);
      await others[0]?.start();
      await others[0]?.notify({ namespace: `subagent/${id}`, kind: 'task', text: 'late' });
      expect(lab.notices).toHaveLength(2);
      await lab.clock.advance(2 * 24 * 60 * minuteMs);
      await others[0]?.start();
      await others[0]?.notify({ namespace: `subagent/${id}`, kind: 'task', text: 'later' });
      expect(lab.notices).toHaveLength(2);
    });
  });
});
