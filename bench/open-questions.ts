import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { QuestionsMessage } from './lib/questions-process.ts';
import { show } from './lib/stats.ts';

const count = 10_000;

/** What open questions cost: a process without any, one that hands 10,000 back, and the next one that finds them open. */
export const benchOpenQuestions = async (): Promise<string[]> => {
  const folder = mkdtempSync(join(tmpdir(), 'gantry-bench-questions-'));
  try {
    const none = await run(join(folder, 'none.db'), 0);
    const path = join(folder, 'open.db');
    const made = await run(path, count);
    const found = await run(path, 0);
    const row = (what: string, { rssMb, open }: QuestionsMessage): string =>
      `| ${what} | ${open.toLocaleString('en')} | ${show(rssMb)} MB | ${show(rssMb - none.rssMb)} MB |`;
    return [
      '| process | open questions | resident | more than without |',
      '|---|---|---|---|',
      row('without questions', none),
      row('that handed them back', made),
      row('started on them', found),
      '',
      `Handed back one after another: ${show(made.perSecond)} a second, each durable before it is told.`,
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
};

const program = join(import.meta.dirname, 'lib/questions-process.ts');

const run = async (path: string, questions: number): Promise<QuestionsMessage> => {
  const child = fork(program, [path, String(questions)], {
    execArgv: ['--conditions=gantry-source', '--expose-gc'],
  });
  const [message] = (await once(child, 'message')) as [QuestionsMessage];
  await once(child, 'exit');
  return message;
};
