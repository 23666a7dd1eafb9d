import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { systemClock as clock } from '../packages/gantry/src/kernel/clock.ts';
import { chooseRunner } from '../packages/gantry/src/scripts/choose-runner.ts';
import { pythonRunners } from '../packages/gantry/src/scripts/python-runners.ts';
import type { ScriptRequest, ScriptResult } from '../packages/gantry/src/scripts/runner.ts';
import { unexpected } from './fixtures/expected-runner.ts';
import { runnerAsUser } from './fixtures/runner-as-user.ts';

const readable = mkdtempSync(join(tmpdir(), 'gantry-neighbours-'));
afterAll(() => rmSync(readable, { recursive: true }));

const open = async (name: 'sandbox' | 'landlock') => {
  const { runner, reason } = await chooseRunner(name, pythonRunners({ clock, hostEnv: {} }));
  const why = runner ? undefined : unexpected(name, reason);
  if (!runner && why === undefined) throw new Error(reason);
  if (why !== undefined) console.warn(`skipped: the neighbours of the ${name} runner. ${why}`);
  return runner;
};
const [sandbox, landlock] = [await open('sandbox'), await open('landlock')];
afterAll(async () => {
  for (const runner of [sandbox, landlock]) await runner?.[Symbol.asyncDispose]();
});

interface Runs {
  run(request: ScriptRequest): Promise<ScriptResult>;
}

const patient: ScriptRequest = {
  interpreter: 'python',
  script: 'import time\nfor n in range(25): time.sleep(0.1)\nprint("undisturbed")',
  timeoutMs: 30_000,
};
const quick: ScriptRequest = { interpreter: 'python', script: 'print(1)', timeoutMs: 30_000 };
const endless: ScriptRequest = { interpreter: 'python', script: 'while True: pass', timeoutMs: 300 };

/** One script takes its time while others begin and end beside it, by themselves and by force. */
const expectUndisturbed = async (one: Runs, other: Runs): Promise<void> => {
  const running = one.run(patient);
  for (const request of [quick, endless, quick, endless]) await other.run(request);
  expect(await running).toMatchObject({ outcome: 'success', stdout: 'undisturbed\n' });
};

describe.skipIf(!sandbox || !landlock)('two runners', () => {
  it.each([
    ['sandbox', sandbox, landlock],
    ['landlock', landlock, sandbox],
  ])('leave each other alone in one process: a script in the %s', async (_name, one, other) => {
    await expectUndisturbed(one as Runs, other as Runs);
  });

  it.each(['sandbox', 'landlock'])('leave each other alone in two processes: a script in the %s', async (runner) => {
    await using one = await runnerAsUser({ runner, readable });
    await using other = await runnerAsUser({ runner: 'landlock', readable });
    await expectUndisturbed(one, other);
  });
});
