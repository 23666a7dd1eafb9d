import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { dirname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Clock } from '../../kernel/clock.ts';
import { GantryError } from '../../kernel/errors.ts';
import { workerUrl } from '../../kernel/worker-url.ts';
import { endChild, isRunning } from '../process/end-child.ts';
import { createRunGate } from '../process/run-gate.ts';
import { inputVariable } from '../process/script-env.ts';
import { supervise } from '../process/supervise.ts';
import { toResult } from '../process/to-result.ts';
import { treeMemoryBytes } from '../process/tree-memory.ts';
import type { ScriptLimits, ScriptRequest, ScriptResult, ScriptRunner } from '../runner.ts';
import { defaultScriptLimits } from '../runner.ts';
import type { ScriptUsers } from '../sandbox/script-users.ts';

/** What the Pyodide runner works with. */
export interface PyodideRunnerOptions {
  readonly clock: Clock;
  /** Absolute path of the `pyodide` package; {@link findPyodide} gives it. The users of the runs must be able to read it. */
  readonly packagePath: string;
  readonly users: ScriptUsers;
  readonly limits?: Partial<ScriptLimits> | undefined;
  /** Runs at a time; the others wait. Default 2. */
  readonly maxParallel?: number | undefined;
  /** Processes that wait for the next script, once the first has run: loading takes seconds. Default 1. */
  readonly warm?: number | undefined;
}

/** Where the optional package `pyodide` is installed, or undefined. */
export const findPyodide = (): string | undefined => {
  try {
    return dirname(fileURLToPath(import.meta.resolve('pyodide')));
  } catch {
    return undefined;
  }
};

const pageBytes = 65_536;
// Node and the interpreter themselves, beside what the script fills.
const ownMemoryBytes = 400 * 1024 * 1024;

/**
 * Makes a runner for Python in WebAssembly, each script in a process of its own under Node's permission model. The isolation
 * is limited: Node does not claim that the model withstands malicious code, and a script can signal processes of the same user.
 */
export const createPyodideRunner = (options: PyodideRunnerOptions): ScriptRunner => {
  const { clock, packagePath, users, warm = 1 } = options;
  const ownLimits: ScriptLimits = { ...defaultScriptLimits, ...options.limits };
  const gate = createRunGate(options.maxParallel ?? 2);
  const pool: Promise<ChildProcess>[] = [];

  const open = async (): Promise<ChildProcess> => {
    const program = fileURLToPath(workerUrl('scripts/pyodide/pyodide-child'));
    const { user, giveBack } = await users.take();
    const child = spawn(
      process.execPath,
      [
        '--permission',
        `--allow-fs-read=${packagePath}`,
        `--allow-fs-read=${dirname(program)}`,
        `--wasm-max-mem-pages=${Math.ceil(ownLimits.memoryBytes / pageBytes)}`,
        '--max-old-space-size=256',
        '--no-warnings',
        program,
        pathToFileURL(`${packagePath}/pyodide.mjs`).href,
      ],
      { cwd: packagePath, env: {}, detached: true, stdio: ['pipe', 'pipe', 'pipe'], ...user },
    );
    // Heard by the run that takes it; one that could not be started has no process id.
    child.once('error', giveBack).once('exit', giveBack);
    return child;
  };

  const take = async (): Promise<ChildProcess> => {
    for (let waiting = pool.shift(); waiting; waiting = pool.shift()) {
      // One that could not be started is as good as none; whatever was wrong is met again by the next.
      const child = await waiting.catch(() => undefined);
      if (child && isRunning(child)) return child;
    }
    return open();
  };

  const refill = (): void => {
    while (pool.length < warm && !gate.stopping.aborted) {
      const opening = open();
      opening.catch(() => {});
      pool.push(opening);
    }
  };

  const run = async (request: ScriptRequest, signal: AbortSignal): Promise<ScriptResult> => {
    if (!('interpreter' in request) || request.interpreter !== 'python')
      throw new GantryError('invalid_arguments', 'The Pyodide runner runs Python only.');
    if ((request.packages?.length ?? 0) > 0 || (request.files?.length ?? 0) > 0)
      throw new GantryError(
        'invalid_arguments',
        'The Pyodide runner has no packages and no files; use the standard library, and give the data as input.',
      );
    const limits = { ...ownLimits, ...request.limits };
    const { timeoutMs } = request;
    const child = await take();
    refill();
    const env = { ...request.env, [inputVariable]: request.inputData ?? '' };
    const end = await supervise(child, {
      clock,
      timeoutMs,
      limits,
      stdin: JSON.stringify({ script: request.script, env }),
      kill: () => void child.kill('SIGKILL'),
      watch: async () =>
        (await treeMemoryBytes(child.pid as number)) > limits.memoryBytes + ownMemoryBytes ? 'memory' : undefined,
      signal,
    });
    return toResult(end, { timeoutMs, limits, files: [], filesLeftOut: [] });
  };

  return {
    name: 'pyodide',
    isolation:
      "limited isolation: Pyodide in a process under Node's permission model, without files, network and environment, but not proof against malicious code",
    run: (request, { signal } = {}) => gate.run((both) => run(request, both), signal),
    [Symbol.asyncDispose]: async () => {
      await gate.stop();
      await Promise.all(
        pool.splice(0).map(async (opening) => {
          const child = await opening.catch(() => undefined);
          if (child) await endChild(child, (each) => void each.kill('SIGKILL'));
        }),
      );
    },
  };
};
