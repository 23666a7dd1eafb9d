import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type { Outcome } from 'gantry';
import { scripts } from 'gantry/scripts';
import { delay } from '../../../packages/gantry/src/kernel/abort.ts';
import { systemClock } from '../../../packages/gantry/src/kernel/clock.ts';
import { startGantry } from './local-gantry.ts';

/** A script that sleeps, with a process of its own that sleeps too. */
export interface SleepingScript extends AsyncDisposable {
  readonly outcome: Promise<Outcome>;
  /** How many processes of the script there are on this machine. */
  count(): Promise<number>;
}

/** Starts the script as a model does, and resolves when both of its processes run. */
export const startSleepingScript = async (signal: AbortSignal): Promise<SleepingScript> => {
  const mark = `sleeper-${randomUUID()}`;
  const { gantry, ...local } = await startGantry(() => [scripts({})]);
  const sleep = `["bash", "-c", "exec -a ${mark} sleep 300"]`;
  const script = `import subprocess\nsubprocess.Popen(${sleep})\nsubprocess.run(${sleep})`;
  const outcome = gantry.call('execute_python_script', { script }, { caller: 'model', signal });
  const count = async (): Promise<number> => {
    const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
    const lines = await Promise.all(ids.map((id) => readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '')));
    return lines.filter((line) => line.startsWith(mark)).length;
  };
  while ((await count()) < 2) {
    const ended = await Promise.race([outcome, delay(systemClock, 20)]);
    if (ended) throw new Error(`the script did not run: ${JSON.stringify(ended)}`);
  }
  return { outcome, count, [Symbol.asyncDispose]: () => local[Symbol.asyncDispose]() };
};
