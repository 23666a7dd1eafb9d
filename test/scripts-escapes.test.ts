import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { messageOf } from '../packages/gantry/src/kernel/errors.ts';
import { isOpenToAll } from '../packages/gantry/src/scripts/process/is-open-to-all.ts';
import type { ScriptRequest, ScriptResult } from '../packages/gantry/src/scripts/runner.ts';
import { unexpected } from './fixtures/expected-runner.ts';
import type { ForeignRunner } from './fixtures/runner-as-user.ts';
import { runnerAsUser } from './fixtures/runner-as-user.ts';

const folder = mkdtempSync(join(tmpdir(), 'gantry-escapes-'));
const shared = join(folder, 'shared');
mkdirSync(shared);
for (const each of [folder, shared]) chmodSync(each, 0o755);
writeFileSync(join(shared, 'notes.txt'), 'from the shared folder');
writeFileSync(join(folder, 'secret.txt'), 'host secret');

// An id without an account: nothing is allowed to it that is not allowed to everybody.
const ordinaryId = 54_321;
const isRoot = process.getuid?.() === 0;
const users = isRoot ? [{ user: 'root' }, { user: 'an ordinary user', uid: ordinaryId }] : [{ user: 'this user' }];

const open = async (name: 'sandbox' | 'landlock', { user, uid }: { user: string; uid?: number }) => {
  const kind = `${name} of ${user}`;
  if (uid !== undefined && !isOpenToAll(import.meta.dirname)) {
    console.warn(`skipped: the escapes from the ${kind}, who may not read this checkout`);
    return { kind, name, runner: undefined };
  }
  try {
    const env = { GANTRY_TEST_SECRET: 'env secret' };
    return { kind, name, runner: await runnerAsUser({ runner: name, readable: shared, uid, env }) };
  } catch (error) {
    const why = unexpected(name, messageOf(error));
    if (why === undefined) throw error;
    console.warn(`skipped: the escapes from the ${kind}. ${why}`);
    return { kind, name, runner: undefined };
  }
};
const suites = await Promise.all(
  (['sandbox', 'landlock'] as const).flatMap((name) => users.map((user) => open(name, user))),
);

const hostPort = createServer((socket) => socket.end('host'));
beforeAll(async () => {
  hostPort.listen(0, '127.0.0.1');
  await once(hostPort, 'listening');
});
afterAll(async () => {
  hostPort.close();
  for (const { runner } of suites) await runner?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

/** The processes of runs that were given the mark as a variable. */
const mark = `gantry-escape-${process.pid}`;
const marked = (): string[] =>
  readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/environ`, 'utf8').includes(mark);
    } catch {
      return false;
    }
  });

describe.each(suites)('$kind', ({ runner }) => {
  const scriptIt = it.skipIf(!runner);
  const run = (script: string, more: Partial<ScriptRequest> = {}): Promise<ScriptResult> =>
    (runner as ForeignRunner).run({ interpreter: 'python', script, timeoutMs: 15_000, ...more });

  const tries = (body: string): string =>
    `try:\n    ${body.replaceAll('\n', '\n    ')}\nexcept OSError as error:\n    print("refused", error.errno)\nelse:\n    print("DONE")`;

  scriptIt.each([
    ['read a file of the host', `open(${JSON.stringify(join(folder, 'secret.txt'))}).read()`],
    ['read the passwords', 'open("/etc/shadow").read()'],
    ['list the home of root', 'import os; os.listdir("/root")'],
    ['write to /usr', 'open("/usr/x", "w")'],
    ['write to /etc', 'open("/etc/x", "w")'],
    ['write to the root', 'open("/x", "w")'],
    ['write to /dev', 'open("/dev/x", "w")'],
    ['change the kernel', 'open("/proc/sys/kernel/hostname", "w").write("x")'],
    ['make a device', 'import os, stat; os.mknod("dev", 0o600 | stat.S_IFBLK, os.makedev(8, 0))'],
    ['reach a port of the host', 'import socket; socket.create_connection(("127.0.0.1", PORT), 2)'],
    ['resolve a name', 'import socket; socket.getaddrinfo("example.com", 80)'],
    ['open a raw socket', 'import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)'],
    ['open a packet socket', 'import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW)'],
    ['become root', 'import os; os.setuid(0) if os.getuid() else os.setuid(12345)'],
    ['change its root', 'import os; os.chroot(".")'],
  ])('does not let a script %s', async (_what, body) => {
    const { port } = hostPort.address() as AddressInfo;
    const result = await run(tries(body.replace('PORT', String(port))));
    expect(result.stdout).toMatch(/^refused/);
  });

  // The numbers are those of x64.
  it.skipIf(!runner || process.arch !== 'x64').each([
    ['unshare', 272, '0x10000000'],
    ['mount', 165, '0, 0, 0, 0, 0'],
    ['ptrace', 101, '0, 0, 0, 0'],
    ['keyctl', 250, '0, 0, 0'],
    ['bpf', 321, '0, 0, 0'],
    ['io_uring_setup', 425, '1, 0'],
    ['process_vm_readv', 310, '1, 0, 0, 0, 0, 0'],
  ])('refuses the system call %s', async (_name, number, args) => {
    const script = `import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\nprint(libc.syscall(${number}, ${args}), ctypes.get_errno())`;
    expect((await run(script)).stdout).toBe('-1 1\n');
  });

  scriptIt('shows nothing of the environment of the host, nor of its processes', async () => {
    const script = [
      'import os, glob',
      'found = dict(os.environ)',
      'for path in glob.glob("/proc/[0-9]*/environ"):',
      '    try: found[path] = open(path, "rb").read().decode()',
      '    except OSError: pass',
      'print(found)',
    ].join('\n');
    const { stdout } = await run(script);
    expect(stdout).toContain('GANTRY_INPUT');
    expect(stdout).not.toContain('env secret');
  });

  scriptIt('collects files without following links out of the work folder', async () => {
    const script = [
      'import os',
      'os.symlink("/etc/passwd", "passwd")',
      `os.symlink(${JSON.stringify(join(folder, 'secret.txt'))}, "secret")`,
      'os.symlink("/", "root")',
      'os.mkfifo("pipe")',
      'os.mkdir("out")',
      'open("out/result.csv", "w").write("a,b")',
    ].join('\n');
    const { files, filesLeftOut } = await run(script);
    expect(files.map(({ path, bytes }) => [path, Buffer.from(bytes).toString()])).toEqual([['out/result.csv', 'a,b']]);
    expect(filesLeftOut.map((line) => line.split(':')[0])).toEqual(
      expect.arrayContaining(['passwd', 'pipe', 'root', 'secret']),
    );
  });

  scriptIt.each([
    ['signal the process that keeps it', 'import os, signal; os.kill(os.getppid(), signal.SIGTERM)'],
    ['signal whoever runs scripts', 'import os, signal; os.kill(HOST, signal.SIGTERM)'],
  ])('does not let a script %s', async (_what, body) => {
    const result = await run(tries(body.replace('HOST', String(runner?.pid))));
    // In a process namespace of its own a script finds nobody, or only itself, under such numbers.
    expect(result.stdout === '' || /^(refused|DONE)/.test(result.stdout)).toBe(true);
    expect((await run('print("alive")')).stdout).toBe('alive\n');
  });

  scriptIt.each([
    [
      'a daemon that has left its session',
      'import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0: time.sleep(300)\n    os._exit(0)\ntime.sleep(60)',
    ],
    ['a fork bomb', 'import os\nwhile True:\n    try: os.fork()\n    except OSError: pass'],
    [
      'processes that are replaced faster than they can be named',
      'import os, time\nif os.fork(): time.sleep(60)\nfor n in range(20):\n    if os.fork() == 0: break\nwhile True:\n    try:\n        if os.fork(): os._exit(0)\n    except OSError: pass',
    ],
  ])('ends %s at the time limit, to the last process', async (_what, script) => {
    const result = await run(script, { timeoutMs: 1500, limits: { cpuMs: 60_000 }, env: { GANTRY_MARK: mark } });
    expect(result).toMatchObject({ outcome: 'timeout', limit: 'time' });
    expect(marked()).toEqual([]);
  });

  scriptIt('bounds memory, processes and output', async () => {
    expect((await run('x = bytearray(3 << 30)')).limit).toBe('memory');
    const threads =
      'import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(60,), daemon=True).start()';
    expect((await run(threads)).limit).toBe('processes');
    const flood = 'import os\nwhile True: os.write(1, b"x" * 65536)';
    expect((await run(flood, { limits: { maxOutputBytes: 8 << 20 } })).limit).toBe('output');
  });
});
