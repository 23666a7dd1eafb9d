import type { ChildProcess } from 'node:child_process';
import type { Writable } from 'node:stream';
import { startDeadline } from '../../kernel/abort.ts';
import type { Clock } from '../../kernel/clock.ts';
import { GantryError } from '../../kernel/errors.ts';
import type { PackageStore } from '../packages/package-store.ts';
import { parsePackages } from '../packages/parse-packages.ts';
import type { RunSignal, ScriptLimit, ScriptLimits, ScriptRequest, ScriptResult, ScriptRunner } from '../runner.ts';
import { defaultScriptLimits } from '../runner.ts';
import type { GroupMaker } from '../sandbox/cgroup.ts';
import type { ScriptUsers } from '../sandbox/script-users.ts';
import { isRunning } from './end-child.ts';
import type { ScriptCommand } from './interpreters.ts';
import { findProgram, systemPath, toCommand } from './interpreters.ts';
import type { Launcher, Mount } from './launcher.ts';
import { createRunGate } from './run-gate.ts';
import type { RunPlace } from './run-place.ts';
import { openRunPlace } from './run-place.ts';
import { scriptEnv } from './script-env.ts';
import type { ProcessEnd } from './supervise.ts';
import { supervise } from './supervise.ts';
import { cpuSecondsOf, toResult } from './to-result.ts';
import { treeMemoryBytes } from './tree-memory.ts';
import { createWarmPool } from './warm-pool.ts';
import { sweepWorkFolders } from './work-folder.ts';
import { warmPythonProgram } from './warm-python.ts';

/** What a runner of processes works with. */
export interface ProcessRunnerOptions {
  readonly launcher: Launcher;
  readonly users: ScriptUsers;
  readonly clock: Clock;
  /** Bounds what the processes of a run use together; without it the sum is looked at several times a second. */
  readonly groups?: GroupMaker | undefined;
  /** Installs packages; without it a request for packages is refused. */
  readonly packages?: PackageStore | undefined;
  /** Folders that scripts may read, at their own paths. */
  readonly readable?: readonly string[] | undefined;
  readonly limits?: Partial<ScriptLimits> | undefined;
  /** Runs at a time; the others wait. Default 4. */
  readonly maxParallel?: number | undefined;
  /** Python processes that are started before they are needed, once the first script has run. Default 0. */
  readonly warm?: number | undefined;
  /** Where interpreters are looked up; default the folders of the system. */
  readonly interpreterPath?: string | undefined;
}

/** Makes a runner that starts a process for each run and keeps it in with the launcher. */
export const createProcessRunner = (options: ProcessRunnerOptions): ScriptRunner => {
  const { launcher, users, clock, groups, packages: store, interpreterPath = systemPath } = options;
  const ownLimits: ScriptLimits = { ...defaultScriptLimits, ...options.limits };
  const mounts: readonly Mount[] = (options.readable ?? []).map((path) => ({ path }));
  const gate = createRunGate(options.maxParallel ?? 4);
  // Beside the first scripts, which have nothing to do with it; what cannot be removed now is found again by the next runner.
  const sweeping = sweepWorkFolders().catch(() => {});

  const openPlace = (limits: ScriptLimits): Promise<RunPlace> => openRunPlace(limits, { launcher, users, groups });

  const openWarmPlace = async (): Promise<RunPlace> => {
    const place = await openPlace(ownLimits);
    const program = findProgram('python3', interpreterPath);
    if (program === undefined) return place;
    place.child = launcher.start({
      ...base(place, ownLimits),
      program,
      args: ['-B', '-u', '-c', warmPythonProgram],
      env: scriptEnv(idle, { workAt: launcher.workAt(place.folder), folder: place.folder }),
      cpuSeconds: undefined,
      control: true,
    });
    // One that could not be started has no process id, and the run starts its own.
    place.child.on('error', () => {});
    return place;
  };

  const base = (place: RunPlace, limits: ScriptLimits) => ({
    folder: place.folder,
    mounts,
    limits,
    user: place.user,
    joinFiles: place.group?.joinFiles,
  });

  const pool = createWarmPool(options.warm ?? 0, openWarmPlace);

  /** A waiting process fits when the run differs from it in nothing that was settled at its start. */
  const takeWarm = (request: ScriptRequest, packages: readonly string[]): Promise<RunPlace> | undefined => {
    const fits =
      'interpreter' in request && request.interpreter === 'python' && packages.length === 0 && !request.limits;
    return fits ? pool.take() : undefined;
  };

  const start = (
    place: RunPlace,
    command: ScriptCommand,
    run: { env: Record<string, string>; cpuSeconds: number; limits: ScriptLimits; packages: string | undefined },
  ): ChildProcess => {
    if (place.child && isRunning(place.child)) {
      const control = place.child.stdio[4] as Writable;
      control.on('error', () => {});
      control.end(`${JSON.stringify({ env: run.env, cpu: [run.cpuSeconds, run.cpuSeconds + 1] })}\n`);
      return place.child;
    }
    const { limits, env, cpuSeconds } = run;
    return launcher.start({
      ...base(place, limits),
      ...command,
      mounts: run.packages === undefined ? mounts : [...mounts, { path: run.packages }],
      env,
      cpuSeconds,
    });
  };

  const watch =
    (place: RunPlace, child: ChildProcess, limits: ScriptLimits) => async (): Promise<ScriptLimit | undefined> => {
      if ((await place.folder.measure(limits.maxDiskBytes)) > limits.maxDiskBytes) return 'disk';
      if (place.group || launcher.name === 'local' || child.pid === undefined) return undefined;
      return (await treeMemoryBytes(child.pid)) > limits.memoryBytes ? 'memory' : undefined;
    };

  const provide = (packages: readonly string[], signal: AbortSignal): Promise<string> => {
    if (!store)
      throw new GantryError(
        'invalid_arguments',
        'Packages cannot be installed for scripts here; use what Python itself brings.',
      );
    return store.provide(packages, signal);
  };

  const run = async (request: ScriptRequest, signal: AbortSignal): Promise<ScriptResult> => {
    const limits: ScriptLimits = { ...ownLimits, ...request.limits };
    const command = toCommand(request, interpreterPath);
    const wanted = parsePackages(request.packages);
    const startedMs = clock.elapsedMs();
    let packages: string | undefined;
    if (wanted.length > 0) {
      using deadline = startDeadline(clock, request.timeoutMs, {
        signal,
        onExpiry: () =>
          new GantryError(
            'timeout',
            `Installing ${wanted.join(', ')} took longer than the time limit of ${request.timeoutMs} ms. It goes on; call again in a moment, with more time.`,
            { details: { timeoutMs: request.timeoutMs } },
          ),
      });
      packages = await provide(wanted, deadline.signal);
    }
    const timeoutMs = Math.max(1, Math.round(request.timeoutMs - (clock.elapsedMs() - startedMs)));
    await using place = await (takeWarm(request, wanted) ?? openPlace(limits));
    const env = scriptEnv(request, { workAt: launcher.workAt(place.folder), folder: place.folder, packages });
    for (const { path, bytes } of request.files ?? []) await place.folder.put(path, bytes);
    if (command.source) await place.folder.put(command.source.path, command.source.text);
    const child = start(place, command, { env, limits, packages, cpuSeconds: cpuSecondsOf(limits, timeoutMs) });
    const end = await supervise(child, {
      clock,
      timeoutMs,
      limits,
      stdin: request.stdin,
      kill: () => launcher.kill(child),
      endsEverything: launcher.endsEverything,
      watch: watch(place, child, limits),
      signal,
    });
    refuseFailedStart(launcher, end);
    const events = await place.group?.events();
    const { files, leftOut } = await place.folder.collect(limits);
    return toResult(end, { timeoutMs: request.timeoutMs, limits, events, files, filesLeftOut: leftOut });
  };

  return {
    name: launcher.name,
    isolation: launcher.isolation,
    run: async (request, { signal }: RunSignal = {}) => {
      try {
        return await gate.run((both) => run(request, both), signal);
      } finally {
        // Afterwards, so that the next process does not compete with the run.
        pool.refill();
      }
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all([gate.stop(), sweeping]);
      await pool[Symbol.asyncDispose]();
      await store?.[Symbol.asyncDispose]();
    },
  };
};

const refuseFailedStart = (launcher: Launcher, end: ProcessEnd): void => {
  const isFailed = end.exitCode !== null && end.exitCode !== 0 && end.stdoutBytes === 0;
  if (isFailed && launcher.complaint?.test(end.stderr))
    throw new GantryError(
      'execution_failed',
      `The ${launcher.name} runner could not start the script: ${end.stderr.trim()}`,
    );
};

const idle: ScriptRequest = { interpreter: 'python', script: '', timeoutMs: 0 };
