import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import type { Writable } from 'node:stream';
import { isRunning, killGroup } from '../process/end-child.ts';
import { isOpenToAll } from '../process/is-open-to-all.ts';
import { joinArgs } from '../process/join-args.ts';
import type { Launch, Launcher, Mount } from '../process/launcher.ts';
import { prlimitArgs } from '../process/limit-args.ts';
import type { SandboxMount } from './bwrap-args.ts';
import { bwrapArgs } from './bwrap-args.ts';
import { seccompProgram } from './seccomp.ts';

/** The programs that the sandbox is made of, as absolute paths. */
export interface SandboxPrograms {
  readonly bwrap: string;
  /** Of util-linux; inside the sandbox it must lie below `/usr`. */
  readonly prlimit: string;
  readonly setpriv: string;
}

const workAt = '/work';
const seccompFd = 3;
const argsFd = 5;

/** Keeps processes in with bubblewrap: namespaces, an own user, resource limits and a filter on system calls. */
export const bwrapLauncher = (programs: SandboxPrograms): Launcher => {
  const filter = seccompProgram({ localSockets: true });
  const networkFilter = seccompProgram({ localSockets: true, network: true });
  return {
    name: 'sandbox',
    isolation:
      'bubblewrap: no network, no files of the host, read-only system, own user and processes, limits, filtered system calls',
    switchesUser: true,
    showsClosedFolders: true,
    endsEverything: true,
    needsTmpFolder: false,
    complaint: /^(bwrap|setpriv|prlimit|unshare|mount|mkdir): /,
    workAt: () => workAt,
    start: (launch) => {
      const mounts = launch.mounts.map((mount, index) => withReachableSource(mount, index, launch));
      // Not on the command line, which everybody on the machine can read: they hold the script's variables.
      const hidden = bwrapArgs({
        work: launch.folder.path,
        workAt,
        mounts,
        env: launch.env,
        tmpBytes: launch.limits.maxDiskBytes,
        seccompFd,
        network: launch.network,
      });
      const args = [
        ...joinArgs(launch),
        ...bindArgs(mounts),
        ...userArgs(launch, programs.setpriv),
        programs.bwrap,
        '--args',
        String(argsFd),
        '--',
        // Inside, so that the count of processes begins with the sandbox and not with all that the user runs.
        programs.prlimit,
        ...prlimitArgs(launch),
        launch.program,
        ...launch.args,
      ];
      const child = spawn(args[0] as string, args.slice(1), {
        cwd: '/',
        env: { PATH: '/usr/bin:/bin' },
        // In a group of its own, see below.
        detached: true,
        stdio: ['pipe', 'pipe', 'pipe', 'pipe', launch.control ? 'pipe' : 'ignore', 'pipe'],
      });
      const give = (descriptor: number, bytes: Buffer | string): void => {
        const pipe = child.stdio[descriptor] as Writable;
        // A launcher that could not be started says so by its exit.
        pipe.on('error', () => {});
        pipe.end(bytes);
      };
      give(seccompFd, launch.network ? networkFilter : filter);
      give(argsFd, hidden.map((word) => `${word}\0`).join(''));
      return child;
    },
    // bubblewrap 0.8 ties its second process to the first one's life only after a while (seen: it waits for ever for a first process that
    // was killed); until then the second is in the group of the first. Once the first has ended, the number may be another's.
    kill: (child) => {
      if (isRunning(child)) killGroup(child);
    },
  };
};

/**
 * The user of a run may not go to a folder below one of the host's private ones. Root binds such a folder to a place beside
 * the work folder, which the run may reach, in a mount namespace that ends with the run.
 */
const withReachableSource = (mount: Mount, index: number, { user, folder }: Launch): SandboxMount =>
  user && !isOpenToAll(mount.path) ? { ...mount, from: join(dirname(folder.path), `mount-${index}`) } : mount;

const bindArgs = (mounts: readonly SandboxMount[]): string[] => {
  const bound = mounts.flatMap(({ path, from }) => (from === undefined ? [] : [path, from]));
  if (bound.length === 0) return [];
  const command =
    'while [ "$1" != -- ]; do mkdir "$2" && mount --bind "$1" "$2" || exit 125; shift 2; done; shift; exec "$@"';
  return ['/usr/bin/unshare', '--mount', '/bin/sh', '-c', command, 'sh', ...bound, '--'];
};

const userArgs = ({ user }: Launch, setpriv: string): string[] =>
  user ? [setpriv, `--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups', '--'] : [];
