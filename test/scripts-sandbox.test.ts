import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock as clock } from '../packages/gantry/src/kernel/clock.ts';
import type { RunnerSetting } from '../packages/gantry/src/scripts/choose-runner.ts';
import { chooseRunner } from '../packages/gantry/src/scripts/choose-runner.ts';
import { pythonRunners } from '../packages/gantry/src/scripts/python-runners.ts';
import type { ScriptRequest, ScriptResult, ScriptRunner } from '../packages/gantry/src/scripts/runner.ts';
import { unexpected } from './fixtures/expected-runner.ts';
import { serveWheels } from './fixtures/wheel-index.ts';

const folder = mkdtempSync(join(tmpdir(), 'gantry-scripts-'));
const shared = join(folder, 'shared');
mkdirSync(shared);
for (const each of [folder, shared]) chmodSync(each, 0o755);
writeFileSync(join(shared, 'notes.txt'), 'from the shared folder');
writeFileSync(join(folder, 'secret.txt'), 'host secret');
// As a data folder is: nobody but its owner may enter.
const closed = join(folder, 'closed');
mkdirSync(closed, { mode: 0o700 });

const open = (setting: RunnerSetting, more: Partial<Parameters<typeof pythonRunners>[0]> = {}) =>
  chooseRunner(setting, pythonRunners({ clock, hostEnv: process.env, readable: [shared], ...more }));

const settings = ['sandbox', 'landlock'] as const;
const choices = await Promise.all(settings.map((setting) => open(setting)));
for (const [index, name] of settings.entries()) {
  const { runner, reason = '' } = choices[index] ?? {};
  if (runner) continue;
  const why = unexpected(name, reason);
  if (why === undefined) throw new Error(reason);
  console.warn(`skipped: the suite of the ${name} runner. ${why}`);
}

const mark = `gantry-mark-${process.pid}`;
const readOrEmpty = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
};
const commandOf = (pid: string): string => readOrEmpty(`/proc/${pid}/cmdline`);
const environmentOf = (pid: string): string => readOrEmpty(`/proc/${pid}/environ`);

const hostPort = createServer((socket) => socket.end('host'));
beforeAll(async () => {
  hostPort.listen(0, '127.0.0.1');
  await once(hostPort, 'listening');
  process.env['GANTRY_TEST_SECRET'] = 'env secret';
});
afterAll(async () => {
  delete process.env['GANTRY_TEST_SECRET'];
  hostPort.close();
  for (const { runner } of choices) await runner?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

describe.each(settings.map((name, index) => ({ name, runner: choices[index]?.runner })))(
  '$name',
  ({ name, runner }) => {
    const run = (script: string, more: Partial<ScriptRequest> = {}): Promise<ScriptResult> =>
      (runner as ScriptRunner).run({ interpreter: 'python', script, timeoutMs: 15_000, ...more });
    const scriptIt = it.skipIf(!runner);

    scriptIt.each([
      ['a success', 'print("ok")', { outcome: 'success', exitCode: 0, stdout: 'ok\n' }],
      ['an exit code', 'import sys; print("out"); sys.exit(3)', { outcome: 'failed', exitCode: 3, stdout: 'out\n' }],
      ['a script that prints nothing', 'pass', { outcome: 'success', stdout: '' }],
      [
        'quotes, dollars and line ends',
        `print("it's \\"$HOME\\" \`id\`", '''a\nb''')`,
        { stdout: 'it\'s "$HOME" `id` a\nb\n' },
      ],
      ['characters of all lengths', 'print("ü日😀")', { stdout: 'ü日😀\n' }],
      ['closed standard input', 'import sys; print(repr(sys.stdin.read()))', { stdout: "''\n" }],
      ['the name and the arguments', 'import sys; print(__name__, sys.argv)', { stdout: "__main__ ['script.py']\n" }],
    ])('runs %s', async (_what, script, expected) => {
      expect(await run(script)).toMatchObject(expected);
    });

    scriptIt('passes on input and standard input, whatever is in them', async () => {
      const script = 'import os, sys; print(os.environ["GANTRY_INPUT"], sys.stdin.read())';
      const result = await run(script, { inputData: '"a"\n$b', stdin: "ü'c'" });
      expect(result.stdout).toBe('"a"\n$b ü\'c\'\n');
    });

    scriptIt('shows where a script failed and nothing of what runs it', async () => {
      const { stderr } = await run('def f():\n    1/0\nf()');
      expect(stderr).toMatch(/^Traceback .*\n {2}File ".*script\.py", line 3, in <module>/);
      expect(stderr).toContain('ZeroDivisionError');
    });

    scriptIt('gives parallel runs their own results', async () => {
      const results = await Promise.all(
        [1, 2, 3, 4, 5, 6].map((n) => run(`open("f", "w").write("${n}"); print(${n})`)),
      );
      expect(results.map(({ stdout }) => stdout.trim())).toEqual(['1', '2', '3', '4', '5', '6']);
      expect(results.map(({ files }) => Buffer.from(files[0]?.bytes ?? []).toString())).toEqual([
        '1',
        '2',
        '3',
        '4',
        '5',
        '6',
      ]);
    });

    scriptIt('keeps nothing from one run to the next', async () => {
      await run('import os; open("left", "w").write("x"); open(os.environ["TMPDIR"] + "/left", "w").write("x")');
      const result = await run('import os; print(os.listdir("."), "left" in os.listdir(os.environ["TMPDIR"]))');
      expect(result.stdout).toBe("['script.py'] False\n");
    });

    scriptIt('lets scripts read the shared folder and not write to it', async () => {
      const at = join(shared, 'notes.txt');
      expect((await run(`print(open(${JSON.stringify(at)}).read())`)).stdout).toBe('from the shared folder\n');
      const written = await run(`open(${JSON.stringify(join(shared, 'new'))}, "w")`);
      expect(written.outcome).toBe('failed');
      expect(readdirSync(shared)).toEqual(['notes.txt']);
    });

    if (name === 'sandbox')
      scriptIt('shows the shared folder also where the host keeps it from others', async () => {
        mkdirSync(join(closed, 'shared'), { mode: 0o755 });
        writeFileSync(join(closed, 'shared/notes.txt'), 'behind a closed door');
        writeFileSync(join(closed, 'private.txt'), 'private');
        const { runner: own } = await open(name, { readable: [join(closed, 'shared')] });
        await using _closed = own as ScriptRunner;
        const script = `print(open(${JSON.stringify(join(closed, 'shared/notes.txt'))}).read())\n${tries(`open(${JSON.stringify(join(closed, 'private.txt'))})`)}`;
        const result = await (own as ScriptRunner).run({ interpreter: 'python', script, timeoutMs: 10_000 });
        expect(result.stdout).toMatch(/^behind a closed door\nrefused/);
      });

    const tries = (body: string): string =>
      `try:\n    ${body.replaceAll('\n', '\n    ')}\nexcept OSError as error:\n    print("refused", error.errno)\nelse:\n    print("DONE")`;

    scriptIt.each([
      ['memory', 'x = bytearray(3 << 30)', 'memory limit'],
      ['memory', 'x = []\nwhile True: x.append(bytearray(8 << 20))', 'memory limit'],
      ['file-size', 'f = open("big", "wb")\nwhile True: f.write(bytes(1 << 20))', 'for one file'],
      [
        'processes',
        'import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(60,), daemon=True).start()',
        'processes',
      ],
      ['output', 'import os\nwhile True: os.write(1, b"x" * 65536)', 'output limit'],
      ['output', 'import os\nwhile True: os.write(2, b"x" * 65536)', 'output limit'],
    ])('ends a run at the limit %s', async (limit, script, message) => {
      const result = await run(script, { limits: { maxOutputBytes: 32 << 20 } });
      expect(result.limit).toBe(limit);
      expect(result.message).toContain(message);
      expect(Buffer.byteLength(result.stdout) + Buffer.byteLength(result.stderr)).toBeLessThan(3 << 20);
    });

    scriptIt('bounds what all processes of a run fill together', async () => {
      const script = [
        'import os, time',
        'for n in range(12):',
        '    if os.fork() == 0:',
        '        x = bytearray(os.urandom(1 << 20)) * 60',
        '        time.sleep(1)',
        '        os._exit(0)',
        'for n in range(12): print(os.wait()[1])',
      ].join('\n');
      const result = await run(script, { limits: { memoryBytes: 256 << 20 }, timeoutMs: 8000 });
      // With control groups single processes are ended, else the whole run.
      expect(result.limit === 'memory' || /^9$/m.test(result.stdout)).toBe(true);
    });

    scriptIt('bounds the work folder as a whole', async () => {
      const script = 'n = 0\nwhile True:\n    open(f"f{n}", "wb").write(bytes(1 << 20)); n += 1';
      const result = await run(script, { limits: { maxDiskBytes: 24 << 20 } });
      expect(result).toMatchObject({ outcome: 'limit', limit: 'disk' });
      expect(result.message).toContain('disk limit of 24 MB');
    });

    scriptIt('bounds the temporary folder', async () => {
      const script =
        'import os\nfor n in range(200): open(f"{os.environ[\'TMPDIR\']}/{n}", "wb").write(bytes(1 << 20))\nprint("DONE")';
      const result = await run(script, { limits: { maxDiskBytes: 24 << 20 } });
      expect(result.limit).toBe('disk');
      expect(result.outcome).not.toBe('success');
    });

    scriptIt.each([
      ['a loop', 'while True: pass'],
      ['a loop in C code', 'import re; re.match("(a+)+b", "a" * 60)'],
      [
        'a script that ignores signals',
        `import signal, time\nfor n in range(1, 65):\n    try: signal.signal(n, signal.SIG_IGN)\n    except (OSError, ValueError): pass\nwhile True: time.sleep(1)`,
      ],
      [
        'a child that ignores SIGTERM',
        `import subprocess; subprocess.run(["sh", "-c", "trap '' TERM; while :; do sleep 1; done", "${mark}"])`,
      ],
      [
        'a daemon that has left its session',
        `import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0: os.execv("/bin/sh", ["sh", "-c", "sleep 300", "${mark}"])\n    os._exit(0)\ntime.sleep(60)`,
      ],
      ['a fork bomb', 'import os\nwhile True:\n    try: os.fork()\n    except OSError: pass'],
    ])('ends %s at the time limit, with all it started', async (_what, script) => {
      const startedMs = performance.now();
      const result = await run(script, { timeoutMs: 1500, limits: { cpuMs: 60_000 } });
      expect(performance.now() - startedMs).toBeLessThan(12_000);
      expect(result).toMatchObject({ outcome: 'timeout', limit: 'time', message: expect.stringContaining('1500 ms') });
      expect(readdirSync('/proc').filter((pid) => commandOf(pid).includes(mark))).toEqual([]);
    });

    scriptIt('ends a loop at its processor time, also when it ignores the warning', async () => {
      const script = 'import signal; signal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass';
      const result = await run(script, { limits: { cpuMs: 1000 } });
      expect(result).toMatchObject({ outcome: 'limit', limit: 'cpu', message: expect.stringContaining('1 s') });
    });

    scriptIt('takes as much input as a variable can hold, and shows it to nobody else on the machine', async () => {
      const inputData = `${mark}${'"'.repeat(110_000)}`;
      const script = 'import os, time; print(len(os.environ["GANTRY_INPUT"]), flush=True); time.sleep(1)';
      const running = run(script, { inputData });
      const seen = new Set<string>();
      const over = new AbortController();
      const ended = running.finally(() => over.abort());
      while (!over.signal.aborted) {
        for (const pid of readdirSync('/proc')) if (commandOf(pid).includes(mark)) seen.add(pid);
        await Promise.race([ended, new Promise((resolve) => setImmediate(resolve))]);
      }
      expect((await running).stdout).toBe(`${inputData.length}\n`);
      expect([...seen]).toEqual([]);
    });

    scriptIt('leaves nothing when its caller gives up while it is being started', async () => {
      const started = Array.from({ length: 40 }, async (_, round) => {
        const controller = new AbortController();
        const running = (runner as ScriptRunner).run(
          { interpreter: 'sh', script: 'exec sleep 300', timeoutMs: 60_000, env: { GANTRY_MARK: mark } },
          { signal: controller.signal },
        );
        const ended = expect(running).rejects.toMatchObject({ code: 'cancelled' });
        setTimeout(() => controller.abort(), round * 4);
        await ended;
      });
      await Promise.all(started);
      const left = readdirSync('/proc').filter((pid) => environmentOf(pid).includes(mark));
      expect(left).toEqual([]);
    });

    scriptIt('stops when its caller gives up', async () => {
      const controller = new AbortController();
      const running = (runner as ScriptRunner).run(
        { interpreter: 'sh', script: `touch started; exec sleep 300 # ${mark}`, timeoutMs: 60_000 },
        { signal: controller.signal },
      );
      controller.abort();
      await expect(running).rejects.toMatchObject({ code: 'cancelled' });
    });

    scriptIt.each([['perl; id'], ['--index-url=http://127.0.0.1:1/'], ['../x']])(
      'refuses the package %j',
      async (text) => {
        await expect(run('print(1)', { packages: [text] })).rejects.toMatchObject({ code: 'invalid_arguments' });
      },
    );

    scriptIt('installs packages before, once for each set, and runs without network as ever', async () => {
      const index = await serveWheels({ greeting: 'def hello(): return "hello from the wheel"' });
      const { runner: own } = await open(name, {
        packages: { folder: join(closed, 'packages'), indexUrl: index.url },
      });
      await using _closed = own as ScriptRunner;
      const use = (script: string) =>
        (own as ScriptRunner).run({ interpreter: 'python', script, packages: ['greeting'], timeoutMs: 60_000 });
      expect(await use('import greeting; print(greeting.hello())')).toMatchObject({ stdout: 'hello from the wheel\n' });
      const { port } = hostPort.address() as AddressInfo;
      const tried = await use(tries(`import socket; socket.create_connection(("127.0.0.1", ${port}), 2)`));
      expect(tried.stdout).toMatch(/^refused/);
      const asked = index.requests();
      await index[Symbol.asyncDispose]();
      expect(await use('import greeting; print(greeting.hello())')).toMatchObject({ stdout: 'hello from the wheel\n' });
      expect(asked).toBeGreaterThan(0);
    });

    scriptIt('says in the words of the installer that a package does not exist', async () => {
      await using index = await serveWheels({});
      const { runner: own } = await open(name, { packages: { folder: join(folder, 'none'), indexUrl: index.url } });
      await using _closed = own as ScriptRunner;
      const request: ScriptRequest = { interpreter: 'python', script: '', packages: ['no-such'], timeoutMs: 60_000 };
      await expect((own as ScriptRunner).run(request)).rejects.toMatchObject({
        code: 'execution_failed',
        message: expect.stringContaining('no-such'),
      });
    });

    scriptIt('ends what runs when it is closed, and leaves nothing', async () => {
      const { runner: own } = await open(name);
      const running = (own as ScriptRunner).run({ interpreter: 'sh', script: 'sleep 300', timeoutMs: 60_000 });
      const ended = expect(running).rejects.toMatchObject({ code: 'stopped' });
      await (own as ScriptRunner)[Symbol.asyncDispose]();
      await ended;
      await expect((own as ScriptRunner).run({ interpreter: 'sh', script: '', timeoutMs: 1 })).rejects.toMatchObject({
        code: 'stopped',
      });
    });

    scriptIt('leaves no process when the host is killed, and no folder when there is a host again', async () => {
      const host = spawn(
        process.execPath,
        ['--conditions=gantry-source', join(import.meta.dirname, 'fixtures/script-host.ts'), name, mark],
        { stdio: ['ignore', 'pipe', 'inherit'] },
      );
      const [pid] = (await once(createInterface({ input: host.stdout }), 'line')) as [string];
      host.kill('SIGKILL');
      await once(host, 'exit');
      await expect.poll(() => commandOf(pid).includes(mark), { timeout: 10_000 }).toBe(false);
      const foldersOfHost = (): string[] => readdirSync(tmpdir()).filter((each) => each.includes(`-${host.pid}-`));
      await using _another = (await open(name)).runner as ScriptRunner;
      await expect.poll(foldersOfHost).toEqual([]);
    });
  },
);
