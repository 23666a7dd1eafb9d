import { describe, expect, it } from 'vitest';
import type { RunnerCandidate } from './choose-runner.ts';
import { checkScripts, chooseRunner } from './choose-runner.ts';
import type { RunnerName, ScriptRunner } from './runner.ts';

const runner = (name: RunnerName): ScriptRunner => ({
  name,
  isolation: `as ${name} does it`,
  run: () => Promise.reject(new Error('not run here')),
  [Symbol.asyncDispose]: async () => {},
});
const works = (name: RunnerName, onlyByName?: boolean): RunnerCandidate => ({
  name,
  onlyByName,
  open: async () => runner(name),
});
const fails = (name: RunnerName): RunnerCandidate => ({ name, open: async () => `${name} is not installed` });

describe('chooseRunner', () => {
  it('takes the first that works and tells what did not', async () => {
    const choice = await chooseRunner('auto', [fails('sandbox'), works('landlock'), works('local', true)]);
    expect(choice.runner?.name).toBe('landlock');
    expect(choice.reason).toBe(
      'landlock, the strongest that works here (sandbox: sandbox is not installed). as landlock does it.',
    );
    expect(choice.rejected).toEqual([{ name: 'sandbox', reason: 'sandbox is not installed' }]);
  });

  it('never takes one that has to be named, and then says why there is none', async () => {
    const choice = await chooseRunner('auto', [fails('sandbox'), works('local', true)]);
    expect(choice.runner).toBeUndefined();
    expect(choice.reason).toContain('sandbox: sandbox is not installed');
  });

  it('takes the named one and falls back to no other', async () => {
    const candidates = [works('sandbox'), fails('landlock'), works('local', true)];
    expect((await chooseRunner('local', candidates)).runner?.name).toBe('local');
    expect((await chooseRunner('landlock', candidates)).runner).toBeUndefined();
  });
});

describe('checkScripts', () => {
  it.each([
    ['sandbox', 'ok'],
    ['kubernetes', 'ok'],
    ['remote', 'ok'],
    ['landlock', 'warning'],
    ['pyodide', 'warning'],
    ['local', 'warning'],
  ] as const)('calls %s %s', async (name, state) => {
    const check = checkScripts(await chooseRunner(name, [works(name)]));
    expect(check.state).toBe(state);
    expect(check.fix === undefined).toBe(state === 'ok');
  });

  it('sends nobody to the packages of the machine for a cluster that does not answer', async () => {
    const check = checkScripts(await chooseRunner('kubernetes', [fails('kubernetes')]));
    expect(check).toMatchObject({ state: 'warning', fix: expect.stringContaining('about the cluster') });
  });

  it('says the way out when nothing works', async () => {
    expect(checkScripts(await chooseRunner('auto', []))).toMatchObject({
      state: 'warning',
      fix: expect.stringContaining('bubblewrap'),
    });
  });
});
