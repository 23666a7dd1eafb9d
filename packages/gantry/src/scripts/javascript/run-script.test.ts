import { expect, it } from 'vitest';
import type { EngineEnd, EngineRun } from './engine-messages.ts';
import { loadEngine } from './load-engine.ts';
import { runScript } from './run-script.ts';

const openEngine = await loadEngine();

const run = async (script: string, more: Partial<EngineRun> = {}): Promise<EngineEnd> =>
  runScript(await openEngine(), {
    script,
    env: { GANTRY_INPUT: 'in' },
    timeoutMs: 10_000,
    memoryBytes: 32 * 1024 * 1024,
    keptOutputBytes: 10_000,
    maxOutputBytes: 100_000,
    ...more,
  });

it.each([
  ['console.log(1, "a", { b: [true, null], c: "d" })', '1 a { b: [ true, null ], c: "d" }\n'],
  ['console.log(process.env.GANTRY_INPUT)', 'in\n'],
  ['const a = {}; a.a = a; print(a, new Map([[1, new Set([2])]]))', '{ a: [Circular] } Map(1) { 1 => Set(1) { 2 } }\n'],
  ['print(await new Promise((done) => setTimeout(() => done("late"), 60_000)))', 'late\n'],
  ['const t = setInterval(() => { print("tick"); clearInterval(t) }, 5)', 'tick\n'],
  ['setTimeout(() => print(2), 20); setTimeout(() => print(1), 10)', '1\n2\n'],
  ['print("ü日😀")', 'ü日😀\n'],
  [
    'print(typeof require, typeof fetch, typeof WebAssembly, typeof process.getBuiltinModule)',
    'undefined undefined undefined undefined\n',
  ],
  ['print([].constructor.constructor("return typeof this.process.binding")())', 'undefined\n'],
])('%s', async (script, stdout) => {
  expect(await run(script)).toMatchObject({ exitCode: 0, stdout, stderr: '' });
});

it.each([
  ['print("before"); null.x', 'before\n', /TypeError: cannot read property 'x' of null\s+at .*script\.js:1/],
  ['not a script', '', /SyntaxError/],
  ['await Promise.reject(new RangeError("no"))', '', /RangeError: no/],
  ['setTimeout(() => { throw new Error("in timer") })', '', /in timer/],
  ['import fs from "node:fs"', '', /could not load module/],
  ['await new Promise(() => {})', '', /waits for something that never comes/],
  ['const f = () => f() + 1; f()', '', /stack overflow/],
])('%s fails and says why', async (script, stdout, stderr) => {
  const end = await run(script);
  expect(end).toMatchObject({ exitCode: 1, stdout });
  expect(end.stderr).toMatch(stderr);
});

it('ends where exit() says, also for a script that catches everything', async () => {
  expect(await run('print(1); exit(3); print(2)')).toMatchObject({ exitCode: 3, stdout: '1\n', stderr: '' });
  expect((await run('try { exit(4) } catch {} for (;;);')).exitCode).toBe(4);
});

it('runs into its limits of time, memory and output', async () => {
  expect((await run('for (;;);', { timeoutMs: 20 })).ended).toBe('time');
  // Not even an engine that takes longer to be made than the script may run is interrupted before it.
  expect((await run('for (;;);', { timeoutMs: 0 })).ended).toBe('time');
  expect((await run('setInterval(() => {}, 1)', { timeoutMs: 20 })).ended).toBe('time');
  expect((await run('try { "x".repeat(2 ** 29) } catch (e) { print(e.message) }')).stdout).toBe('out of memory\n');
  const endless = await run('for (;;) print("x".repeat(1000))');
  expect(endless.ended).toBe('output');
  expect(endless.stdout.length).toBeLessThan(11_000);
});

it.each([
  [
    '(async () => { throw new Error("boom") })(); print("on")',
    'on\n',
    /^Unhandled rejection: Error: boom\n\s+at .*script\.js:1/,
  ],
  ['async function main() { JSON.parse("{") }\nmain()', '', /SyntaxError: [^]*at main \(script\.js:1/],
  ['Promise.reject(1)', '', /^Unhandled rejection: 1\n$/],
  ['Promise.reject()', '', /^Unhandled rejection: undefined\n$/],
  ['import("fs").then(console.log)', '', /could not load module/],
  ['new Promise((_, no) => setTimeout(() => no(new Error("late")), 5))', '', /Error: late/],
  [
    'const p = Promise.reject(new Error("a")); p.catch(() => { throw new Error("b") })',
    '',
    /^Unhandled rejection: Error: b/,
  ],
  [
    'Promise.all([1, 2].map(async (n) => { throw new Error("n" + n) }))',
    '',
    /^Unhandled rejection: Error: n1(?![^]*n2)/,
  ],
  ['Promise.reject(new Error("cause")); await new Promise(() => {})', '', /Error: cause[^]*waits for something/],
  ['for (let i = 0; i < 9; i += 1) Promise.reject(i)', '', /: 0\n(?:.*\n){4}Unhandled rejections not shown: 4\.\n$/],
  ['eval("(async () => { throw new Error(\'inner\') })()")', '', /Error: inner/],
])('fails for a rejection that nobody handles: %s', async (script, stdout, stderr) => {
  const end = await run(script);
  expect(end).toMatchObject({ exitCode: 1, stdout });
  expect(end.stderr).toMatch(stderr);
});

it.each([
  'try { await (async () => { throw new Error("no") })() } catch {}',
  'Promise.reject(1).catch(() => {})',
  'const p = Promise.reject(1); setTimeout(() => p.catch(() => {}), 5)',
  'await Promise.allSettled([Promise.reject(1), (async () => { throw 2 })()])',
  'for (let i = 0; i < 1e4; i += 1) Promise.reject({ i }).catch(() => {})',
  'const all = Array.from({ length: 1000 }, (_, i) => Promise.reject(i)); await null; for (const p of all) p.catch(() => {})',
])('does not fail for a rejection that is handled, be it late: %s', async (script) => {
  expect(await run(script)).toMatchObject({ exitCode: 0, stdout: '', stderr: '' });
});

it('takes exit() in an async function for no rejection', async () => {
  expect(await run('(async () => { await null; exit(0) })()')).toMatchObject({ exitCode: 0, stderr: '' });
});
