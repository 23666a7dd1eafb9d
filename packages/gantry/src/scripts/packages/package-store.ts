import { createHash, randomBytes } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { chown, mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { orAborted } from '../../kernel/abort.ts';
import type { Clock } from '../../kernel/clock.ts';
import { GantryError } from '../../kernel/errors.ts';
import { findProgram, systemPath } from '../process/interpreters.ts';
import type { Launcher } from '../process/launcher.ts';
import { scriptEnv } from '../process/script-env.ts';
import { supervise } from '../process/supervise.ts';
import { createWorkFolder, measureTrees, openTree } from '../process/work-folder.ts';
import { defaultScriptLimits } from '../runner.ts';
import type { ScriptUsers } from '../sandbox/script-users.ts';

/** Installed sets of Python packages, one folder for each set. */
export interface PackageStore extends AsyncDisposable {
  /**
   * The folder that holds the packages (as `parsePackages` gives them), installed when they are not there yet. An install
   * goes on when its caller gives up, so that a second try finds it done.
   * @throws {GantryError} `execution_failed` with the installer's own words.
   */
  provide(packages: readonly string[], signal: AbortSignal): Promise<string>;
}

/** What a package store works with. */
export interface PackageStoreOptions {
  /** Where the sets are kept; must be readable by the users of the runs. */
  readonly folder: string;
  /** Keeps the installer in. */
  readonly launcher: Launcher;
  readonly users: ScriptUsers;
  readonly clock: Clock;
  /** Index to install from; default the installer's own. */
  readonly indexUrl?: string | undefined;
}

const mebibyte = 1024 * 1024;
const installTimeoutMs = 300_000;
const maxSetBytes = 1024 * mebibyte;
const mostSets = 30;
// Longer than any script runs, so no set is removed under one.
const keptMs = 3_600_000;
const limits = {
  ...defaultScriptLimits,
  memoryBytes: 1024 * mebibyte,
  maxFileBytes: 512 * mebibyte,
  maxDiskBytes: 512 * mebibyte,
  keptOutputBytes: 16 * 1024,
};

/**
 * Installs packages with pip, in a step that has the network and nothing else: wheels only, so that no code of a package
 * runs in it.
 */
export const createPackageStore = (options: PackageStoreOptions): PackageStore => {
  const { folder, launcher, users, clock, indexUrl } = options;
  const installing = new Map<string, Promise<string>>();
  const stopping = new AbortController();

  const install = async (packages: readonly string[], path: string, python: string): Promise<string> => {
    const target = `${path}.${randomBytes(6).toString('hex')}`;
    const taken = launcher.switchesUser ? await users.take() : undefined;
    const user = taken?.user;
    try {
      await mkdir(target, { recursive: true, mode: 0o755 });
      if (user) await chown(target, user.uid, user.gid);
      await using work = await createWorkFolder({ user, withTmp: launcher.needsTmpFolder });
      const child = launcher.start({
        program: python,
        args: ['-I', '-B', '-m', 'pip', ...pipArgs(target, indexUrl), '--', ...packages],
        folder: work,
        env: scriptEnv(
          { interpreter: 'python', script: '', timeoutMs: 0 },
          { workAt: launcher.workAt(work), folder: work },
        ),
        mounts: [{ path: target, writable: true }],
        limits,
        cpuSeconds: installTimeoutMs / 1000,
        network: true,
        user,
      });
      const end = await supervise(child, {
        clock,
        timeoutMs: installTimeoutMs,
        limits,
        kill: () => launcher.kill(child),
        endsEverything: launcher.endsEverything,
        watch: async () => ((await measureTrees([target], maxSetBytes, 200_000)) > maxSetBytes ? 'disk' : undefined),
        signal: stopping.signal,
      });
      if (end.exitCode !== 0 || end.ended)
        throw installFailed(packages, end.ended ?? lastLines(end.stderr || end.stdout));
      // Other users read it than the one that wrote it, whatever that one's mask was.
      await openTree(target);
      await rename(target, path);
      await prune(folder, clock);
      return path;
    } catch (error) {
      await rm(target, { recursive: true, force: true });
      throw error;
    } finally {
      taken?.giveBack();
    }
  };

  return {
    provide: async (packages, signal) => {
      const python = findProgram('python3', systemPath);
      if (python === undefined) throw new GantryError('execution_failed', `There is no python3 in ${systemPath}.`);
      const key = JSON.stringify([realpathSync(python), indexUrl, packages]);
      const path = join(folder, createHash('sha256').update(key).digest('hex').slice(0, 32));
      const found = await stat(path).catch(() => undefined);
      if (found) {
        const now = new Date(clock.nowMs());
        await utimes(path, now, now);
        return path;
      }
      let running = installing.get(path);
      if (!running) {
        running = install(packages, path, python).finally(() => installing.delete(path));
        installing.set(path, running);
      }
      return orAborted(running, signal);
    },
    [Symbol.asyncDispose]: async () => {
      stopping.abort(new GantryError('stopped', 'Gantry is stopping.'));
      await Promise.allSettled(installing.values());
    },
  };
};

const pipArgs = (target: string, indexUrl: string | undefined): string[] => [
  'install',
  '--target',
  target,
  '--only-binary=:all:',
  '--no-input',
  '--no-cache-dir',
  '--no-compile',
  '--disable-pip-version-check',
  '--no-warn-script-location',
  '--quiet',
  ...(indexUrl === undefined ? [] : ['--index-url', indexUrl]),
];

const installFailed = (packages: readonly string[], why: string): GantryError =>
  new GantryError(
    'execution_failed',
    /No module named '?pip/.test(why)
      ? 'Packages cannot be installed because pip is missing beside Python; on Debian the package is "python3-pip". Write the script without packages.'
      : `Installing ${packages.join(', ')} failed: ${why}`,
  );

const lastLines = (text: string): string => text.trim().split('\n').slice(-6).join('\n').slice(-1500);

/** Removes the sets that have not been used for the longest time, beyond so many. */
const prune = async (folder: string, clock: Clock): Promise<void> => {
  const names = await readdir(folder);
  const sets = await Promise.all(
    names.map(async (name) => ({ name, usedMs: (await stat(join(folder, name))).mtimeMs })),
  );
  const old = sets.sort((a, b) => b.usedMs - a.usedMs).slice(mostSets);
  for (const { name, usedMs } of old)
    if (clock.nowMs() - usedMs > keptMs) await rm(join(folder, name), { recursive: true, force: true });
};
