import variant from '@jitl/quickjs-wasmfile-release-sync';
import type { QuickJSSyncVariant } from 'quickjs-emscripten-core';
import { newQuickJSWASMModuleFromVariant } from 'quickjs-emscripten-core';
import { expect, it } from 'vitest';
import type { EngineEnd, EngineRun } from './engine-messages.ts';
import { runScript } from './run-script.ts';

const run = async (script: string, more: Partial<EngineRun> = {}): Promise<EngineEnd> =>
  runScript(await newQuickJSWASMModuleFromVariant(variant as unknown as QuickJSSyncVariant), {
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
  expect((await run('setInterval(() => {}, 1)', { timeoutMs: 20 })).ended).toBe('time');
  expect((await run('try { "x".repeat(2 ** 29) } catch (e) { print(e.message) }')).stdout).toBe('out of memory\n');
  const endless = await run('for (;;) print("x".repeat(1000))');
  expect(endless.ended).toBe('output');
  expect(endless.stdout.length).toBeLessThan(11_000);
});
