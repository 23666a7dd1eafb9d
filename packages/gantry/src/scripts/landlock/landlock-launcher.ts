import { spawn } from 'node:child_process';
import type { Writable } from 'node:stream';
import type { Launch, Launcher } from '../process/launcher.ts';
import { resourceLimits } from '../process/limit-args.ts';
import { seccompProgram } from '../sandbox/seccomp.ts';
import { landlockProgram } from './launcher-program.ts';

/** The system folders and files that programs need to run. */
const systemPaths = [
  '/usr',
  '/bin',
  '/lib',
  '/lib64',
  '/etc/ld.so.cache',
  '/etc/alternatives',
  '/etc/localtime',
  '/etc/ssl/openssl.cnf',
];
/** What the installer of packages needs beside them. */
const networkPaths = [
  '/etc/resolv.conf',
  '/etc/hosts',
  '/etc/nsswitch.conf',
  '/etc/ssl',
  '/etc/ca-certificates',
  '/etc/pki',
  '/etc/os-release',
  '/etc/debian_version',
];

/** The descriptor from which the launcher reads. */
const orderFd = 3;

/**
 * Keeps processes in with Landlock and a filter on system calls, for machines that forbid namespaces. `python` is the host's
 * interpreter, which runs the launcher itself.
 */
export const landlockLauncher = (python: string): Launcher => {
  // Without a network namespace a path could lead to a socket of the host, so there are none at all.
  const filter = seccompProgram().toString('base64');
  const networkFilter = seccompProgram({ network: true, localSockets: true }).toString('base64');
  return {
    name: 'landlock',
    isolation:
      'Landlock: no network, no files of the host but the system (read-only), limits, filtered system calls; processes of the host stay visible by number',
    switchesUser: true,
    showsClosedFolders: false,
    endsEverything: true,
    needsTmpFolder: true,
    complaint: /^sandbox: /,
    workAt: (folder) => folder.path,
    start: (launch) => {
      const order = {
        parent: process.pid,
        cwd: launch.folder.path,
        command: [launch.program, ...launch.args],
        env: launch.env,
        uid: launch.user?.uid ?? null,
        gid: launch.user?.gid ?? null,
        join: launch.joinFiles ?? [],
        limits: resourceLimits(launch),
        readable: [...systemPaths, ...(launch.network ? networkPaths : []), ...pathsOf(launch, false)],
        writable: [launch.folder.path, launch.folder.tmp, ...pathsOf(launch, true)],
        network: launch.network === true,
        filter: launch.network ? networkFilter : filter,
      };
      const child = spawn(python, ['-I', '-S', '-B', '-c', landlockProgram], {
        cwd: '/',
        env: { PATH: '/usr/bin:/bin' },
        stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
      });
      const pipe = child.stdio[orderFd] as Writable;
      // A launcher that could not be started says so by its exit.
      pipe.on('error', () => {});
      pipe.end(JSON.stringify(order));
      return child;
    },
    // The launcher ends its descendants before itself.
    kill: (child) => void child.kill('SIGTERM'),
  };
};

const pathsOf = ({ mounts }: Launch, writable: boolean): string[] =>
  mounts.filter((mount) => (mount.writable ?? false) === writable).map(({ path }) => path);
