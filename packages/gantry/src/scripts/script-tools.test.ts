import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeInvoker, registryOf } from '../testing/make-invoker.ts';
import { outcomeText } from '../tool/outcome-text.ts';
import type { Outcome } from '../tool/outcome.ts';
import { createVolume } from '../volume/volume.ts';
import type { RunnerChoice } from './choose-runner.ts';
import type { ScriptRequest, ScriptResult, ScriptRunner } from './runner.ts';
import { scriptTools } from './script-tools.ts';

let dir: string;
beforeEach(() => void (dir = mkdtempSync(join(tmpdir(), 'gantry-scripts-'))));
afterEach(() => rmSync(dir, { recursive: true }));

const succeeded: ScriptResult = {
  outcome: 'success',
  exitCode: 0,
  stdout: '',
  stderr: '',
  stdoutBytes: 0,
  stderrBytes: 0,
  message: '',
  durationMs: 1,
  files: [],
  filesLeftOut: [],
};

const toolsOver = (result: Partial<ScriptResult> = {}, choice?: RunnerChoice) => {
  const requests: ScriptRequest[] = [];
  const runner: ScriptRunner = {
    name: 'sandbox',
    isolation: 'none at all',
    run: async (request) => {
      requests.push(request);
      return { ...succeeded, ...result };
    },
    [Symbol.asyncDispose]: async () => {},
  };
  const tools = scriptTools({
    python: async () => choice ?? { runner, reason: '', rejected: [] },
    javascript: runner,
    volume: createVolume(dir),
  });
  const invoker = makeInvoker(registryOf(...tools));
  const call = (args: Record<string, unknown>, name = 'execute_python_script'): Promise<Outcome> =>
    invoker.invoke({ name, arguments: JSON.stringify(args) }, { caller: 'model' });
  return { call, requests, tools };
};

describe('script tools', () => {
  it('return standard output alone on success', async () => {
    const { call } = toolsOver({ stdout: '{"a":1}\n', stderr: 'a warning' });
    const outcome = await call({ script: 'x' });
    expect(outcome).toMatchObject({ status: 'done', parts: [{ type: 'text', text: '{"a":1}\n' }] });
  });

  it('say so when there was no output', async () => {
    expect(await toolsOver().call({ script: 'x' })).toMatchObject({ parts: [{ text: '(no output)' }] });
  });

  it('show both streams of a failure, and the exit code', async () => {
    const { call } = toolsOver({ outcome: 'failed', exitCode: 3, stdout: 'out', stderr: 'err', message: 'Why.' });
    const outcome = await call({ script: 'x' });
    expect(outcome).toMatchObject({ status: 'failed', failure: { code: 'execution_failed', reported: {} } });
    expect((outcome as { failure: { message: string } }).failure.message).toBe(
      'Script failed (exit 3). Why.\n\nOutput:\nout\n\nErrors:\nerr',
    );
  });

  it('call a run out of time a timeout, and say what to do', async () => {
    const { call } = toolsOver({ outcome: 'timeout', exitCode: null, limit: 'time', message: 'Limit of 1000 ms.' });
    const outcome = await call({ script: 'x' });
    expect(outcome).toMatchObject({
      failure: { code: 'timeout', message: expect.stringMatching(/1000 ms.*timeout_seconds/) },
    });
  });

  it.each([
    [undefined, 30_000],
    [5, 5000],
    [0, 1000],
    [-3, 1000],
    [9999, 300_000],
    [2.5, 30_000],
    ['abc', 30_000],
    ['20', 20_000],
    [null, 30_000],
  ])('take timeout_seconds %j as %d ms', async (seconds, timeoutMs) => {
    const { call, requests } = toolsOver();
    await call({ script: 'x', timeout_seconds: seconds });
    expect(requests[0]?.timeoutMs).toBe(timeoutMs);
  });

  it('pass script, input and packages on as they are', async () => {
    const { call, requests } = toolsOver();
    await call({ script: 'print("$HOME \'")', input_data: '"quoted" ü', pip_packages: ['numpy'] });
    expect(requests[0]).toMatchObject({
      interpreter: 'python',
      script: 'print("$HOME \'")',
      inputData: '"quoted" ü',
      packages: ['numpy'],
    });
    await call({ script: 'y' }, 'execute_javascript_script');
    expect(requests[1]).toMatchObject({ interpreter: 'javascript', script: 'y' });
  });

  it('refuse a call without a script', async () => {
    expect(await toolsOver().call({})).toMatchObject({ failure: { code: 'invalid_arguments' } });
  });

  it('refuse and say why when no runner works', async () => {
    const { call } = toolsOver({}, { reason: 'sandbox: bubblewrap is not installed', rejected: [] });
    expect(await call({ script: 'x' })).toMatchObject({
      failure: { code: 'execution_failed', message: expect.stringContaining('bubblewrap is not installed') },
    });
  });

  it('save files that a script left, and name the others', async () => {
    const files = [
      { path: 'plots/a.png', bytes: Buffer.from('png') },
      { path: 'a.png', bytes: Buffer.from('other') },
    ];
    const outcome = await toolsOver({ stdout: 'ok', files, filesLeftOut: ['l: not a regular file'] }).call({
      script: 'x',
    });
    expect(outcome).toMatchObject({
      attachments: [
        { path: join(dir, 'scripts/a.png'), size: 3, mime: 'image/png' },
        { path: join(dir, 'scripts/a-2.png') },
      ],
    });
    expect(readFileSync(join(dir, 'scripts/a-2.png'), 'utf8')).toBe('other');
    expect(outcomeText(outcome)).toMatch(
      /Files saved:\n- .*a\.png \(3 bytes\)[\s\S]*Files not saved:\n- l: not a regular file/,
    );
  });

  it('tell the model their limits in the schema', () => {
    const [python] = toolsOver().tools;
    expect(python?.registration.inputSchema).toMatchObject({
      required: ['script'],
      properties: { timeout_seconds: { type: 'number' }, pip_packages: { type: 'array' } },
    });
  });
});
