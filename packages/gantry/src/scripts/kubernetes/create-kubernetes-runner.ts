import { newId } from '../../kernel/ids.ts';
import { abortReason, delay, orAborted, startDeadline, throwIfAborted } from '../../kernel/abort.ts';
import type { Clock } from '../../kernel/clock.ts';
import { GantryError } from '../../kernel/errors.ts';
import type { Log } from '../../kernel/log.ts';
import { createRunGate } from '../process/run-gate.ts';
import { toResult } from '../process/to-result.ts';
import type { ScriptLimits, ScriptRequest, ScriptResult, ScriptRunner } from '../runner.ts';
import { defaultScriptLimits } from '../runner.ts';
import { followPod } from './follow-pod.ts';
import type { PodVerdict } from './judge-pod.ts';
import { quantityBytes } from './quantity.ts';
import type { PodApi } from './pod-api.ts';
import type { PodSettings } from './pod-manifest.ts';
import { podManifest } from './pod-manifest.ts';
import { readPodOutput } from './pod-output.ts';
import { removePod, sweepPods } from './remove-pods.ts';

/** What the runner in a cluster works with. */
export interface KubernetesRunnerOptions {
  readonly api: PodApi;
  readonly pods: PodSettings;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits?: Partial<ScriptLimits> | undefined;
  /** Runs at a time; the others wait. Default 4. */
  readonly maxParallel?: number | undefined;
}

// The cluster ends a pod at its deadline; what it then still has to do is not waited for any longer than this.
const patienceMs = 5000;
// A cluster that does not answer must not keep Gantry from stopping; what is left then is found by the next start.
const stopPatienceMs = 10_000;
// Base64 and the frame around it take a third; a log that is larger was not written by the program.
const logFactor = 2;

/** Makes a runner that runs each script in a pod of its own, which is deleted whatever happens. */
export const createKubernetesRunner = (options: KubernetesRunnerOptions): ScriptRunner => {
  const { api, pods, clock, log } = options;
  const ownLimits: ScriptLimits = {
    ...defaultScriptLimits,
    ...options.limits,
    memoryBytes: quantityBytes(pods.memoryLimit),
  };
  const gate = createRunGate(options.maxParallel ?? 4);
  // Scripts wait for that, or it would take their pods for what an earlier process has left.
  const sweeping = sweepPods(api, pods, { clock, log });

  const run = async (request: ScriptRequest, signal: AbortSignal): Promise<ScriptResult> => {
    const limits = { ...ownLimits, ...request.limits };
    const { timeoutMs, callId = newId(), inputData = '', env = {} } = request;
    const manifest = podManifest(pods, { script: sourceOf(request), inputData, env, callId, timeoutMs, limits });
    const { name } = manifest.metadata;
    const startedMs = clock.elapsedMs();
    let waitsFor: string | undefined;
    using deadline = startDeadline(clock, timeoutMs + patienceMs, { signal, keepsAlive: true });
    try {
      await orAborted(sweeping, deadline.signal);
      await api.create(manifest);
      throwIfAborted(signal);
      const verdict = await followPod(api, name, {
        clock,
        log,
        signal: deadline.signal,
        onWait: (reason) => {
          waitsFor = reason;
        },
      });
      if (verdict.state === 'broken')
        throw new GantryError('execution_failed', `The script's pod could not be run. ${verdict.reason}`, {
          retry: 'later',
        });
      const output = await api.log(name, limits.keptOutputBytes * 2 * logFactor).catch((error: unknown) => {
        // A pod that never ran has none.
        if (verdict.state === 'late') return '';
        throw error;
      });
      return resultOf(verdict, readPodOutput(output), {
        timeoutMs,
        limits,
        durationMs: clock.elapsedMs() - startedMs,
        waitsFor: verdict.state === 'late' ? (verdict.reason ?? waitsFor) : undefined,
      });
    } catch (error) {
      if (!deadline.expired() || signal.aborted) throw signal.aborted ? abortReason(signal) : error;
      return resultOf({ state: 'late' }, readPodOutput(''), {
        timeoutMs,
        limits,
        durationMs: clock.elapsedMs() - startedMs,
        waitsFor,
      });
    } finally {
      // Also when making it failed: the cluster may have made it all the same.
      await removePod(api, name, { clock, log });
    }
  };

  return {
    name: 'kubernetes',
    isolation: `a pod of its own in the cluster (${pods.image}): no service account, no volumes, not root, read-only system; no network where the policy of the namespace says so`,
    run: (request, { signal } = {}) => gate.run((both) => run(request, both), signal),
    [Symbol.asyncDispose]: async () => {
      const ended = Promise.allSettled([gate.stop(), sweeping]);
      await Promise.race([ended, delay(clock, stopPatienceMs)]);
    },
  };
};

const sourceOf = (request: ScriptRequest): string => {
  if (!('interpreter' in request) || request.interpreter !== 'python')
    throw new GantryError('invalid_arguments', 'Scripts in the cluster are written in Python.');
  if ((request.packages?.length ?? 0) > 0)
    throw new GantryError(
      'invalid_arguments',
      'Packages cannot be installed in a pod, which has no network; use the standard library. An operator can set an image that holds packages ("scripts": {"kubernetes": {"image": …}}).',
    );
  if ((request.files?.length ?? 0) > 0 || request.stdin !== undefined)
    throw new GantryError(
      'invalid_arguments',
      'A pod is given no files and no standard input; give the data as input.',
    );
  return request.script;
};

const resultOf = (
  verdict: Exclude<PodVerdict, { state: 'open' | 'broken' }>,
  output: ReturnType<typeof readPodOutput>,
  facts: {
    readonly timeoutMs: number;
    readonly limits: ScriptLimits;
    readonly durationMs: number;
    readonly waitsFor: string | undefined;
  },
): ScriptResult => {
  const { end, strays } = output;
  const isOutOfMemory = verdict.state === 'ended' && verdict.isOutOfMemory;
  if (verdict.state === 'ended' && !end && !isOutOfMemory)
    throw new GantryError(
      'execution_failed',
      `The script's pod ended with exit code ${verdict.exitCode} and no result. ${strays === '' ? 'Its image may have no Python 3.8 or newer as "python3".' : strays}`,
    );
  const isLate = verdict.state === 'late' && !end;
  const result = toResult(
    {
      exitCode: end?.exitCode ?? null,
      // Whoever is ended with its whole container leaves no word of it.
      signal: end ? end.signal : 'SIGKILL',
      stdout: output.stdout,
      stderr: output.stderr,
      stdoutBytes: output.stdoutBytes,
      stderrBytes: output.stderrBytes,
      ended: end?.ended ?? (isLate ? 'time' : undefined),
      durationMs: end?.durationMs ?? facts.durationMs,
    },
    {
      timeoutMs: facts.timeoutMs,
      limits: facts.limits,
      events: { oomKills: isOutOfMemory ? 1 : 0, refusedForks: 0 },
      files: [],
      filesLeftOut: [],
    },
  );
  return isLate && facts.waitsFor !== undefined
    ? { ...result, message: `${result.message} Its pod had not begun to run (${facts.waitsFor}).` }
    : result;
};
