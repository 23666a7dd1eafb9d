import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readFile, readdir, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pidNamespace } from '../process/owner-tag.ts';

/** The control groups of the kernel as files, and what it says about processes. Paths are absolute. */
export interface GroupTree {
  /** Where the groups are mounted. */
  readonly root: string;
  /** Of this process. */
  readonly pid: number;
  /** Names the process ids that this process sees; another container on the same machine has another. */
  readonly pidNamespace: string;
  /** `/proc/self/cgroup`; empty where there is none. */
  ownGroups(): string;
  isAlive(pid: number): boolean;
  /** Ends a process at once; does nothing when it is gone. */
  kill(pid: number): void;
  /** Direct children of a process; none for one that is gone. */
  childrenOf(pid: number): Promise<readonly number[]>;
  has(path: string): boolean;
  read(path: string): Promise<string>;
  write(path: string, text: string): Promise<void>;
  list(path: string): Promise<readonly string[]>;
  make(path: string): Promise<void>;
  /** Removes a group that holds neither processes nor groups. */
  remove(path: string): Promise<void>;
}

/** The groups of this machine. */
export const systemGroupTree = (): GroupTree => ({
  root: '/sys/fs/cgroup',
  pid: process.pid,
  pidNamespace: pidNamespace(),
  ownGroups: () => (existsSync('/proc/self/cgroup') ? readFileSync('/proc/self/cgroup', 'utf8') : ''),
  isAlive: (pid) => existsSync(`/proc/${pid}`),
  kill: (pid) => {
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  },
  childrenOf: async (pid) => {
    // Children belong to the thread that started them.
    const tasks = await readdir(`/proc/${pid}/task`).catch(() => []);
    const lists = await Promise.all(
      tasks.map((task) => readFile(join('/proc', String(pid), 'task', task, 'children'), 'utf8').catch(() => '')),
    );
    return lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number));
  },
  has: existsSync,
  read: (path) => readFile(path, 'utf8'),
  write: (path, text) => writeFile(path, text),
  list: (path) => readdir(path),
  make: async (path) => {
    await mkdir(path);
  },
  remove: (path) => rmdir(path),
});

/** The path of this process's group below the mount of a controller; the controller of the unified hierarchy is ''. */
export const ownGroupOf = (tree: GroupTree, controller: string): string | undefined => {
  for (const line of tree.ownGroups().split('\n')) {
    const [, names = '', path = ''] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    if (path === '' || !names.split(',').includes(controller)) continue;
    // In a container the path may be the host's; the mount then shows only the container's own part.
    return tree.has(join(tree.root, controller, path)) ? path : '/';
  }
  return undefined;
};
