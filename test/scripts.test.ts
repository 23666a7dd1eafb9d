import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { createGantry, outcomeText, silentLog } from '../packages/gantry/src/index.ts';
import type { Outcome } from '../packages/gantry/src/index.ts';
import { systemClock as clock } from '../packages/gantry/src/kernel/clock.ts';
import { workerUrl } from '../packages/gantry/src/kernel/worker-url.ts';
import { chooseRunner } from '../packages/gantry/src/scripts/choose-runner.ts';
import { createQuickjsRunner } from '../packages/gantry/src/scripts/javascript/create-quickjs-runner.ts';
import { findPyodide } from '../packages/gantry/src/scripts/pyodide/create-pyodide-runner.ts';
import { pythonRunners } from '../packages/gantry/src/scripts/python-runners.ts';
import type { ScriptResult } from '../packages/gantry/src/scripts/runner.ts';
import { scripts } from '../packages/gantry/src/scripts/scripts.ts';

const folder = mkdtempSync(join(tmpdir(), 'gantry-scripts-plugin-'));
chmodSync(folder, 0o755);
afterAll(() => rmSync(folder, { recursive: true }));

describe('the scripts plugin', () => {
  const start = (options: Parameters<typeof scripts>[0] = {}) =>
    createGantry({ dataDir: join(folder, 'data'), log: silentLog })
      .use(scripts(options))
      .start();
  const model = { caller: 'model', namespace: 'session/1' } as const;

  it('offers both languages, with a guide that names the limits', async () => {
    await using gantry = await start();
    const names = gantry.tools
      .getTools()
      .filter(({ source }) => source === 'scripts')
      .map(({ name }) => name);
    expect(names.sort()).toEqual(['execute_javascript_script', 'execute_python_script']);
    const guide = outcomeText(await gantry.call('get_tool_guide', { name: 'scripts' }, model));
    expect(guide).toMatch(/Memory 512 MB, 64 processes/);
  });

  it('runs JavaScript', async () => {
    await using gantry = await start();
    const args = { script: 'console.log(JSON.parse(process.env.GANTRY_INPUT).n * 2)', input_data: '{"n": 21}' };
    expect(outcomeText(await gantry.call('execute_javascript_script', args, model))).toBe('42\n');
  });

  it('says why there is no Python when the named runner does not work, and runs none', async () => {
    await using gantry = await start({ runner: 'pyodide', limits: { memoryBytes: 1 } });
    const outcome = await gantry.call('execute_python_script', { script: 'print(1)' }, model);
    expect(outcome).toMatchObject({ status: 'failed', failure: { message: expect.stringContaining('pyodide: ') } });
  });

  it('runs Python with the development runner when that is named, with the environment of the host', async () => {
    process.env['GANTRY_TEST_PASSED_ON'] = 'yes';
    await using gantry = await start({ runner: 'local' });
    const script = 'import os; open("made.txt", "w").write("x"); print(os.environ["GANTRY_TEST_PASSED_ON"])';
    const outcome = (await gantry.call('execute_python_script', { script }, model)) as Outcome & {
      attachments: { path: string }[];
    };
    expect(outcomeText(outcome)).toMatch(/^yes\n/);
    expect(readFileSync(outcome.attachments[0]?.path ?? '', 'utf8')).toBe('x');
    delete process.env['GANTRY_TEST_PASSED_ON'];
  });
});

describe('the embedded engine', () => {
  it('keeps nothing from one run to the next, in one worker', async () => {
    await using runner = createQuickjsRunner({ clock });
    const run = (script: string): Promise<ScriptResult> =>
      runner.run({ interpreter: 'javascript', script, timeoutMs: 5000 });
    expect((await run('globalThis.left = 1; Array.prototype.left = 1; print(left)')).stdout).toBe('1\n');
    expect((await run('print(typeof left, [].left)')).stdout).toBe('undefined undefined\n');
  });

  it('is ended at its time limit, also where it does not look at the time', async () => {
    await using runner = createQuickjsRunner({ clock });
    const script = 'const a = []; a.length = 2 ** 31; a.sort(); "x".repeat(2 ** 24).split("").sort().reverse()';
    const result = await runner.run({ interpreter: 'javascript', script, timeoutMs: 300 });
    expect(['time', 'memory']).toContain(result.limit);
    expect(result.durationMs).toBeLessThan(5000);
    expect((await runner.run({ interpreter: 'javascript', script: 'print(1)', timeoutMs: 5000 })).stdout).toBe('1\n');
  });

  it('gives parallel runs their own results, and stops with its caller', async () => {
    await using runner = createQuickjsRunner({ clock });
    const run = (script: string, signal?: AbortSignal): Promise<ScriptResult> =>
      runner.run({ interpreter: 'javascript', script, timeoutMs: 20_000 }, { signal });
    const results = await Promise.all([1, 2, 3, 4, 5, 6].map((n) => run(`print(${n})`)));
    expect(results.map(({ stdout }) => stdout)).toEqual(['1\n', '2\n', '3\n', '4\n', '5\n', '6\n']);
    const controller = new AbortController();
    const endless = run('for (;;);', controller.signal);
    controller.abort();
    await expect(endless).rejects.toMatchObject({ code: 'cancelled' });
  });

  it('refuses other languages, packages and files', async () => {
    await using runner = createQuickjsRunner({ clock });
    const request = { interpreter: 'javascript', script: '', timeoutMs: 1000 };
    await expect(runner.run({ ...request, interpreter: 'python' })).rejects.toMatchObject({
      code: 'invalid_arguments',
    });
    await expect(runner.run({ ...request, packages: ['x'] })).rejects.toMatchObject({ code: 'invalid_arguments' });
  });
});

const pyodide = findPyodide();
if (pyodide === undefined) console.warn('skipped: the Pyodide runner, because the package "pyodide" is not installed');

describe.skipIf(pyodide === undefined)('Pyodide', () => {
  it('is not taken unless it is named or allowed', () => {
    const isOpen = (allowLimitedIsolation?: boolean): boolean | undefined =>
      pythonRunners({ clock, hostEnv: {}, allowLimitedIsolation }).find(({ name }) => name === 'pyodide')?.onlyByName;
    expect([isOpen(), isOpen(true)]).toEqual([true, false]);
  });

  it('runs Python and reaches neither environment, files, processes nor network of the host', async () => {
    const { runner, reason } = await chooseRunner('pyodide', pythonRunners({ clock, hostEnv: {} }));
    expect(reason).toContain('limited isolation');
    if (!runner) throw new Error(reason);
    await using _closed = runner;
    const target = join(folder, 'never');
    const script = [
      'import os, sys',
      'from pyodide.code import run_js',
      'print(os.environ["GANTRY_INPUT"], run_js("JSON.stringify(process.env)"))',
      'def refused(code):',
      '    try: run_js(code)',
      '    except Exception as error: print("restricted" in str(error))',
      '    else: print("DONE", code)',
      `refused("process.getBuiltinModule('fs').readFileSync('/etc/passwd')")`,
      `refused("process.getBuiltinModule('fs').writeFileSync('${target}', 'x')")`,
      `refused("process.getBuiltinModule('child_process').spawnSync('id')")`,
      `refused("new (process.getBuiltinModule('worker_threads').Worker)('0', { eval: true })")`,
      'sys.exit(3)',
    ].join('\n');
    const result = await runner.run({ interpreter: 'python', script, inputData: 'in', timeoutMs: 50_000 });
    expect(result).toMatchObject({ outcome: 'failed', exitCode: 3, stdout: 'in {}\nTrue\nTrue\nTrue\nTrue\n' });
    expect(existsSync(target)).toBe(false);
    const endless = 'while True:\n    try: pass\n    except BaseException: pass';
    const ended = await runner.run({ interpreter: 'python', script: endless, timeoutMs: 2000 });
    expect(ended).toMatchObject({ outcome: 'timeout', limit: 'time' });
  });

  it('keeps a process waiting that takes its script however late it comes', async () => {
    const program = fileURLToPath(workerUrl('scripts/pyodide/pyodide-child'));
    const child = spawn(process.execPath, ['--no-warnings', program, pathToFileURL(`${pyodide}/pyodide.mjs`).href]);
    const stdout = text(child.stdout);
    const usedTicks = (): string => readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(' ').slice(13, 15).join(' ');
    let before = '';
    // It has loaded, and waits, when it uses no processor time any more.
    const isIdle = (): boolean => {
      const [last, now] = [before, usedTicks()];
      before = now;
      return last === now;
    };
    await expect.poll(isIdle, { timeout: 50_000, interval: 1000 }).toBe(true);
    child.stdin.end(JSON.stringify({ script: 'import os; print(os.environ["N"])', env: { N: '42' } }));
    expect(await stdout).toBe('42\n');
  });
});
