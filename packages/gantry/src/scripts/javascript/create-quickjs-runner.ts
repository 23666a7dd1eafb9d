import { Worker } from 'node:worker_threads';
import { throwIfAborted } from '../../kernel/abort.ts';
import type { Clock } from '../../kernel/clock.ts';
import { GantryError } from '../../kernel/errors.ts';
import { workerUrl } from '../../kernel/worker-url.ts';
import { createParallelLimit } from '../process/parallel-limit.ts';
import { inputVariable } from '../process/script-env.ts';
import type { ProcessEnd } from '../process/supervise.ts';
import { toResult } from '../process/to-result.ts';
import type { ScriptLimits, ScriptRequest, ScriptResult, ScriptRunner } from '../runner.ts';
import { defaultScriptLimits } from '../runner.ts';
import type { EngineEnd, EngineRun } from './engine-messages.ts';

/** What the runner of the embedded engine works with. */
export interface QuickjsRunnerOptions {
  readonly clock: Clock;
  readonly limits?: Partial<ScriptLimits> | undefined;
  /** Runs at a time; the others wait. Default 4. */
  readonly maxParallel?: number | undefined;
  /** Workers that are kept waiting for the next script, once the first has run. Default 1. */
  readonly warm?: number | undefined;
}

const mebibyte = 1024 * 1024;
// The engine looks at the time itself; this ends it where it is too busy to look.
const graceMs = 250;

/**
 * Makes a runner for JavaScript: QuickJS in WebAssembly, in a worker, with a new engine and memory for each run. Nothing of the
 * host is within its reach. A worker whose run ended otherwise than by itself is not used again.
 */
export const createQuickjsRunner = (options: QuickjsRunnerOptions): ScriptRunner => {
  const { clock, warm = 1 } = options;
  const ownLimits: ScriptLimits = { ...defaultScriptLimits, memoryBytes: 128 * mebibyte, ...options.limits };
  const parallel = createParallelLimit(options.maxParallel ?? 4);
  const workers = new Set<Worker>();
  const pool: Worker[] = [];
  const stopping = new AbortController();

  const openWorker = (): Worker => {
    const worker = new Worker(workerUrl('scripts/javascript/engine-worker'), {
      env: {},
      // What the engine itself needs beside the memory of the script, which is limited inside.
      resourceLimits: { maxOldGenerationSizeMb: 256 },
    });
    worker.unref();
    workers.add(worker);
    worker.once('exit', () => {
      workers.delete(worker);
      const at = pool.indexOf(worker);
      if (at >= 0) pool.splice(at, 1);
    });
    // Heard by the run that uses the worker; a waiting one that fails is just gone.
    worker.on('error', () => {});
    return worker;
  };

  const release = async (worker: Worker, isClean: boolean): Promise<void> => {
    if (!isClean || pool.length >= warm || stopping.signal.aborted) {
      await worker.terminate();
      return;
    }
    worker.unref();
    pool.push(worker);
  };

  const evaluate = async (run: EngineRun, signal: AbortSignal): Promise<ProcessEnd> => {
    const worker = pool.shift() ?? openWorker();
    worker.ref();
    const startedMs = clock.elapsedMs();
    const done = Promise.withResolvers<EngineEnd>();
    let isClean = false;
    const onEnd = (end: EngineEnd): void => {
      isClean = end.ended === undefined;
      done.resolve(end);
    };
    const onError = (error: Error): void => done.resolve(crashed(`The engine failed: ${error.message}`));
    const onExit = (): void => done.resolve(crashed('The engine ended before the script.'));
    worker.on('message', onEnd).on('error', onError).on('exit', onExit);
    const timer = clock.startTimer(run.timeoutMs + graceMs, () => done.resolve({ ...crashed(''), ended: 'time' }));
    const onAbort = (): void => done.resolve(crashed(''));
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      worker.postMessage(run, []);
      const end = await done.promise;
      throwIfAborted(signal);
      return { ...end, exitCode: end.ended ? null : end.exitCode, durationMs: clock.elapsedMs() - startedMs };
    } finally {
      timer.stop();
      signal.removeEventListener('abort', onAbort);
      worker.off('message', onEnd).off('error', onError).off('exit', onExit);
      await release(worker, isClean);
    }
  };

  const run = async (request: ScriptRequest, signal: AbortSignal): Promise<ScriptResult> => {
    const { script, env } = accept(request);
    const limits = { ...ownLimits, ...request.limits };
    const { timeoutMs } = request;
    const { memoryBytes, keptOutputBytes, maxOutputBytes } = limits;
    const end = await evaluate({ script, env, timeoutMs, memoryBytes, keptOutputBytes, maxOutputBytes }, signal);
    return toResult(end, { timeoutMs, limits, files: [], filesLeftOut: [] });
  };

  return {
    name: 'quickjs',
    isolation: 'QuickJS in WebAssembly: no files, no network, no modules, limits of time, memory and output',
    run: async (request, { signal } = {}) => {
      throwIfAborted(stopping.signal);
      const both = signal ? AbortSignal.any([signal, stopping.signal]) : stopping.signal;
      const leave = await parallel.enter(both);
      try {
        throwIfAborted(both);
        return await run(request, both);
      } finally {
        leave();
      }
    },
    [Symbol.asyncDispose]: async () => {
      stopping.abort(new GantryError('stopped', 'Gantry is stopping; the script was ended.'));
      await Promise.all([...workers].map((worker) => worker.terminate()));
    },
  };
};

const crashed = (stderr: string): EngineEnd => ({
  exitCode: 1,
  stdout: '',
  stderr,
  stdoutBytes: 0,
  stderrBytes: Buffer.byteLength(stderr),
});

const accept = (request: ScriptRequest): { script: string; env: Record<string, string> } => {
  if (!('interpreter' in request) || request.interpreter !== 'javascript')
    throw new GantryError('invalid_arguments', 'The embedded engine runs JavaScript only.');
  if ((request.packages?.length ?? 0) > 0 || (request.files?.length ?? 0) > 0)
    throw new GantryError(
      'invalid_arguments',
      'The embedded engine has no packages and no files; give the data as input.',
    );
  return { script: request.script, env: { ...request.env, [inputVariable]: request.inputData ?? '' } };
};
