import { spawnSync } from 'node:child_process';
import type { Clock } from '../kernel/clock.ts';
import { makeFolder } from '../kernel/make-folder.ts';
import type { RunnerCandidate } from './choose-runner.ts';
import { landlockLauncher } from './landlock/landlock-launcher.ts';
import { landlockProgram } from './landlock/launcher-program.ts';
import { localLauncher } from './local/local-launcher.ts';
import { openFolderForPackages } from './packages/open-folder.ts';
import { createPackageStore } from './packages/package-store.ts';
import { createProcessRunner } from './process/create-process-runner.ts';
import { findProgram, systemPath } from './process/interpreters.ts';
import { isOpenToAll } from './process/is-open-to-all.ts';
import type { Launcher } from './process/launcher.ts';
import { createPyodideRunner, findPyodide } from './pyodide/create-pyodide-runner.ts';
import type { ScriptLimits, ScriptRunner } from './runner.ts';
import { bwrapLauncher } from './sandbox/bwrap-launcher.ts';
import type { GroupMaker } from './sandbox/cgroup.ts';
import { findGroupMaker } from './sandbox/cgroup.ts';
import { createScriptUsers } from './sandbox/script-users.ts';
import { probeTimeoutMs, tried } from './try-runner.ts';

/** What the runners for Python are made of. */
export interface PythonRunnersOptions {
  readonly clock: Clock;
  /** The host's environment; only the local runner passes it on. */
  readonly hostEnv: Readonly<Record<string, string | undefined>>;
  /** Installs packages into this folder, from this index. Absent: packages are refused. */
  readonly packages?: { readonly folder: string; readonly indexUrl?: string | undefined } | undefined;
  /** Folders of the host that scripts may read. */
  readonly readable?: readonly string[] | undefined;
  readonly limits?: Partial<ScriptLimits> | undefined;
  readonly maxParallel?: number | undefined;
  /** Told which of the readable folders scripts cannot be shown, since their users may not enter them. */
  readonly onHidden?: ((folders: readonly string[]) => void) | undefined;
  /** Pyodide may be taken without being named. */
  readonly allowLimitedIsolation?: boolean | undefined;
  /** Sandboxed interpreters that wait for the next script. Default 1. */
  readonly warm?: number | undefined;
}

interface OwnOptions {
  readonly warm?: number | undefined;
  readonly groups?: boolean | undefined;
}

/** Whether scripts can be shown the folder. */
type IsSeen = (path: string) => boolean;

/** The runners for Python and shells, the strongest first. */
export const pythonRunners = (options: PythonRunnersOptions): readonly RunnerCandidate[] => {
  const { clock, limits, maxParallel } = options;

  const make = async (
    launcher: Launcher,
    own: OwnOptions,
    groups: GroupMaker | undefined,
    isSeen: IsSeen,
  ): Promise<ScriptRunner> => {
    const users = createScriptUsers();
    const { packages } = options;
    const folder = packages && (isSeen(packages.folder) ? packages.folder : await openFolderForPackages());
    return createProcessRunner({
      launcher,
      users,
      clock,
      groups,
      packages: folder === undefined ? undefined : createPackageStore({ ...packages, folder, launcher, users, clock }),
      readable: options.readable?.filter(isSeen),
      limits,
      maxParallel,
      warm: own.warm,
      interpreterPath: launcher.name === 'local' ? options.hostEnv['PATH'] : undefined,
    });
  };

  const open = async (launcher: Launcher, own: OwnOptions = {}): Promise<ScriptRunner | string> => {
    for (const folder of options.readable ?? []) await makeFolder(folder);
    const found = own.groups ? await findGroupMaker() : undefined;
    const groups = typeof found === 'string' ? undefined : found;
    const switches = launcher.switchesUser && createScriptUsers().areUsed;
    const isSeen: IsSeen = (path) => !switches || launcher.showsClosedFolders || isOpenToAll(path);
    const hidden = (options.readable ?? []).filter((path) => switches && !isOpenToAll(path));
    const opened = await tried(await make(launcher, own, groups, isSeen));
    if (hidden.length === 0) return opened;
    if (launcher.showsClosedFolders && typeof opened !== 'string') return opened;
    options.onHidden?.(hidden);
    // Showing closed folders needs the right to mount, without which the sandbox itself can still work.
    return launcher.showsClosedFolders ? tried(await make(launcher, own, groups, isOpenToAll)) : opened;
  };

  return [
    {
      name: 'sandbox',
      open: async () => {
        if (process.platform !== 'linux') return 'bubblewrap needs Linux';
        const [bwrap, prlimit, setpriv] = ['bwrap', 'prlimit', 'setpriv'].map((name) => findProgram(name, systemPath));
        if (bwrap === undefined) return 'bubblewrap is not installed (on Debian the package is "bubblewrap")';
        if (prlimit === undefined || setpriv === undefined)
          return 'prlimit and setpriv of util-linux are not installed';
        return open(bwrapLauncher({ bwrap, prlimit, setpriv }), { warm: options.warm ?? 1, groups: true });
      },
    },
    {
      name: 'landlock',
      open: async () => {
        if (process.platform !== 'linux') return 'Landlock needs Linux';
        const python = findProgram('python3', systemPath);
        if (python === undefined) return `there is no python3 in ${systemPath}`;
        const version = landlockVersion(python);
        // Older kernels let a script signal the processes of its own user, which is the host's unless it is root.
        const needed = createScriptUsers().areUsed ? 4 : 6;
        if (version < needed) return `the kernel's Landlock has version ${Math.max(0, version)}, needed is ${needed}`;
        return open(landlockLauncher(python), { groups: true });
      },
    },
    {
      name: 'pyodide',
      onlyByName: !options.allowLimitedIsolation,
      open: async () => {
        const packagePath = findPyodide();
        if (packagePath === undefined) return 'the package "pyodide" is not installed (npm install pyodide)';
        const { clock, limits, maxParallel, warm } = options;
        return tried(
          createPyodideRunner({ clock, packagePath, users: createScriptUsers(), limits, maxParallel, warm }),
        );
      },
    },
    { name: 'local', onlyByName: true, open: () => open(localLauncher(options.hostEnv)) },
  ];
};

const landlockVersion = (python: string): number => {
  const args = ['-I', '-S', '-B', '-c', landlockProgram, 'probe'];
  const { stdout } = spawnSync(python, args, { env: {}, encoding: 'utf8', timeout: probeTimeoutMs });
  return Number.parseInt(stdout, 10) || 0;
};
