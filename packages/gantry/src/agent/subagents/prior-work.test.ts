import { afterEach, beforeEach, expect, it } from 'vitest';
import type { SubagentLab } from './__fixtures__/subagent-lab.ts';
import { minuteMs, openSubagentLab, result, task } from './__fixtures__/subagent-lab.ts';

let lab: SubagentLab;
beforeEach(async () => {
  lab = await openSubagentLab();
});
afterEach(() => lab[Symbol.asyncDispose]());

const run = async (description: string): Promise<string> => {
  const told = lab.notices.length + 1;
  await lab.spawn(description);
  await lab.told(told);
  return lab.runs.at(-1)?.systemTail?.() ?? '';
};

it('tells a subagent what others of its conversation gave, and where the whole of it is', async () => {
  expect(await run('find <b>tables</b>')).toBe('Today is a day.');
  const tail = await run('find chairs');
  expect(tail).toContain('# Earlier work');
  expect(tail).toMatch(
    /<result task="[0-9a-f]{12}" about="find ‹b›tables‹\/b›">\nThe answer is 42\.\nKeys: `subagent\/[0-9a-f]{12}\/result`\n<\/result>/,
  );
});

it('says nothing of other conversations, of what failed, and of what was more than a day ago', async () => {
  await lab.subagents.spawn(task('elsewhere'), { caller: 'model', namespace: 'session/other' });
  await lab.told(1);
  expect(await run('here')).toBe('Today is a day.');
  lab.answer = async () => result('half', { endedBy: 'iterations' });
  await run('failed');
  expect(await run('after it')).not.toContain('half');
  lab.answer = async () => result('old');
  await run('old');
  await lab.clock.advance(24 * 60 * minuteMs + 1);
  expect(await run('new')).toBe('Today is a day.');
});

it('stays within 20 results and 24,000 characters, newest first', async () => {
  lab.answer = async () => result('x'.repeat(9_000));
  for (let n = 0; n < 13; n += 1) {
    await run(`task ${n}`);
    await lab.clock.advance(1);
  }
  const long = await run('last');
  expect(long.length).toBeLessThan(25_000);
  expect(long).toContain('about="task 12"');
  expect(long).not.toContain('about="task 0"');
  lab.answer = async () => result('short');
  for (let n = 20; n < 45; n += 1) {
    await run(`task ${n}`);
    await lab.clock.advance(1);
  }
  const many = await run('last');
  expect(many.match(/<result /g)).toHaveLength(20);
  expect(many.indexOf('about="task 44"')).toBeLessThan(many.indexOf('about="task 43"'));
});
