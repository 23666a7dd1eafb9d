import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { systemClock as clock } from '../packages/gantry/src/kernel/clock.ts';
import type { RunnerSetting } from '../packages/gantry/src/scripts/choose-runner.ts';
import { chooseRunner } from '../packages/gantry/src/scripts/choose-runner.ts';
import { createQuickjsRunner } from '../packages/gantry/src/scripts/javascript/create-quickjs-runner.ts';
import { pythonRunners } from '../packages/gantry/src/scripts/python-runners.ts';
import type { ScriptRunner } from '../packages/gantry/src/scripts/runner.ts';
import { showSpread, spreadOf } from './lib/stats.ts';

/**
 * What each runner adds to a script that prints one line, from the call to the result, beside the bare interpreter started by
 * hand. All take turns in one run. A warm runner is left the time to start its next process, as between two calls of a model.
 */
export const benchScriptRunners = async (): Promise<string[]> => {
  const notes: string[] = [];
  const open = async (setting: RunnerSetting, warm: number): Promise<ScriptRunner | undefined> => {
    const { runner, reason } = await chooseRunner(
      setting,
      pythonRunners({ clock, hostEnv: { PATH: '/usr/bin:/bin' }, warm }),
    );
    if (!runner) notes.push(`Not measured: ${reason}`);
    return runner;
  };
  const contestants: { readonly name: string; readonly runner: ScriptRunner | undefined; readonly language: string }[] =
    [
      { name: 'sandbox', runner: await open('sandbox', 0), language: 'python' },
      { name: 'sandbox, warm', runner: await open('sandbox', 1), language: 'python' },
      { name: 'Landlock', runner: await open('landlock', 0), language: 'python' },
      { name: 'local', runner: await open('local', 0), language: 'python' },
      { name: 'QuickJS, new worker', runner: createQuickjsRunner({ clock, warm: 0 }), language: 'javascript' },
      { name: 'QuickJS, warm', runner: createQuickjsRunner({ clock, warm: 1 }), language: 'javascript' },
    ];
  const bare = { python: [] as number[], javascript: [] as number[] };
  const samples = new Map<string, number[]>(contestants.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds + 2; round += 1) {
    const pythonMs = await timeOf(() => runBare('/usr/bin/python3', ['-c', 'print(1)']));
    const javascriptMs = await timeOf(() => runBare(process.execPath, ['-e', 'console.log(1)']));
    if (round >= 2) {
      bare.python.push(pythonMs);
      bare.javascript.push(javascriptMs);
    }
    for (const { name, runner, language } of contestants) {
      if (!runner) continue;
      const script = language === 'python' ? 'print(1)' : 'console.log(1)';
      const ms = await timeOf(() => runner.run({ interpreter: language, script, timeoutMs: 30_000 }));
      if (round >= 2) samples.get(name)?.push(ms);
      // The kernel takes a moment to clear a sandbox away, which is not the next one to pay.
      await wait(50);
    }
    await wait(300);
  }
  for (const { runner } of contestants) await runner?.[Symbol.asyncDispose]();
  const medianOf = { python: spreadOf(bare.python).median, javascript: spreadOf(bare.javascript).median };
  return [
    '| runner | one line printed | beside the bare interpreter |',
    '|---|---|---|',
    `| bare python3 | ${showSpread(bare.python, 'ms')} | |`,
    ...contestants
      .filter(({ runner, language }) => runner && language === 'python')
      .map(({ name }) => rowOf(name, samples.get(name) ?? [], medianOf.python)),
    `| bare node | ${showSpread(bare.javascript, 'ms')} | |`,
    ...contestants
      .filter(({ language }) => language === 'javascript')
      .map(({ name }) => rowOf(name, samples.get(name) ?? [], medianOf.javascript)),
    ...(notes.length > 0 ? ['', ...notes] : []),
  ];
};

const rounds = 15;

const rowOf = (name: string, values: readonly number[], bareMs: number): string => {
  const added = spreadOf([...values]).median - bareMs;
  return `| ${name} | ${showSpread([...values], 'ms')} | ${added >= 0 ? '+' : '−'}${Math.abs(added).toFixed(1)} ms |`;
};

const timeOf = async (run: () => Promise<unknown>): Promise<number> => {
  const startedMs = performance.now();
  await run();
  return performance.now() - startedMs;
};

const runBare = async (command: string, args: readonly string[]): Promise<void> => {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env: {} });
  child.stdout.resume();
  child.stderr.resume();
  await once(child, 'close');
};
