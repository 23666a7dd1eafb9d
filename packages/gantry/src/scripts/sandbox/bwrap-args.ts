import { lstatSync } from 'node:fs';
import type { Mount } from '../process/launcher.ts';

/** A folder of the host and where it is shown. */
export interface SandboxMount extends Mount {
  /** Where the sandbox's maker finds it, when that is another place. */
  readonly from?: string | undefined;
}

/** What a sandbox shows and forbids. */
export interface SandboxView {
  /** The host's folder that becomes the current folder and the home. */
  readonly work: string;
  readonly workAt: string;
  readonly mounts: readonly SandboxMount[];
  readonly env: Readonly<Record<string, string>>;
  readonly tmpBytes: number;
  /** File descriptor from which the system call filter is read. */
  readonly seccompFd: number;
  readonly network?: boolean | undefined;
}

const sharedMemoryBytes = 16 * 1024 * 1024;

/** What programs need of `/etc` to run at all; names that are missing are left out. */
const systemFiles = ['ld.so.cache', 'alternatives', 'localtime', 'mime.types'];
/** What programs need of `/etc` to reach the network. */
const networkFiles = ['resolv.conf', 'hosts', 'nsswitch.conf', 'ssl', 'ca-certificates', 'pki'];

/**
 * The arguments of `bwrap` (bubblewrap >= 0.8) up to the command: every namespace of its own and none to be made inside, the
 * system read-only, nothing of the host's files but the mounts, an empty environment, no capabilities, a filter on system calls.
 */
export const bwrapArgs = (view: SandboxView): string[] => {
  const args = ['--unshare-all', '--unshare-user', '--disable-userns', '--die-with-parent', '--new-session'];
  if (view.network) args.push('--share-net');
  args.push('--uid', '1000', '--gid', '1000', '--hostname', 'script', '--cap-drop', 'ALL', '--ro-bind', '/usr', '/usr');
  for (const folder of ['bin', 'sbin', 'lib', 'lib32', 'lib64']) {
    const found = lstatSync(`/${folder}`, { throwIfNoEntry: false });
    if (found?.isSymbolicLink()) args.push('--symlink', `usr/${folder}`, `/${folder}`);
    else if (found) args.push('--ro-bind', `/${folder}`, `/${folder}`);
  }
  for (const file of view.network ? [...systemFiles, ...networkFiles] : systemFiles)
    args.push('--ro-bind-try', `/etc/${file}`, `/etc/${file}`);
  args.push('--proc', '/proc');
  // The devices come as a writable folder in memory, so it is closed once it holds what it should.
  args.push('--dev', '/dev', '--size', String(sharedMemoryBytes), '--tmpfs', '/dev/shm', '--remount-ro', '/dev');
  args.push('--size', String(view.tmpBytes), '--tmpfs', '/tmp');
  args.push('--bind', view.work, view.workAt);
  for (const { path, from = path, writable } of view.mounts) args.push(writable ? '--bind' : '--ro-bind', from, path);
  args.push('--remount-ro', '/', '--chdir', view.workAt, '--clearenv');
  for (const [name, value] of Object.entries(view.env)) args.push('--setenv', name, value);
  args.push('--seccomp', String(view.seccompFd));
  return args;
};
