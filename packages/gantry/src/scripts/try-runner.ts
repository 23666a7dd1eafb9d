import { messageOf } from '../kernel/errors.ts';
import type { ScriptRunner } from './runner.ts';

/** How long a runner may take for one line. */
export const probeTimeoutMs = 30_000;

/** The runner when it can run one line of Python, else the reason, with the runner closed. */
export const tried = async (runner: ScriptRunner): Promise<ScriptRunner | string> => {
  const problem = await problemOf(runner);
  if (problem === undefined) return runner;
  await runner[Symbol.asyncDispose]();
  return problem;
};

const problemOf = async (runner: ScriptRunner): Promise<string | undefined> => {
  try {
    const result = await runner.run({ interpreter: 'python', script: 'print("works")', timeoutMs: probeTimeoutMs });
    if (result.outcome === 'success' && result.stdout === 'works\n') return undefined;
    return result.stderr.trim().split('\n').at(-1) || result.message;
  } catch (error) {
    return messageOf(error);
  }
};
