import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readFile, readdir, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { messageOf } from '../../kernel/errors.ts';
import type { KernelEvents } from '../process/to-result.ts';
import type { ScriptLimits } from '../runner.ts';

/** A control group of one run: bounds what all its processes use together. */
export interface RunGroup extends AsyncDisposable {
  /** Files into which a process writes its id to join. */
  readonly joinFiles: readonly string[];
  events(): Promise<KernelEvents>;
}

/** Makes control groups. */
export interface GroupMaker {
  create(name: string, limits: ScriptLimits): Promise<RunGroup>;
  /** For a person: which kind is used. */
  readonly description: string;
}

/** Finds out whether control groups can be made here; gives the reason where they cannot. */
export const findGroupMaker = async (): Promise<GroupMaker | string> => {
  const reasons: string[] = [];
  for (const make of [unified, separate]) {
    const maker = make();
    if (typeof maker === 'string') {
      reasons.push(maker);
      continue;
    }
    try {
      await using probe = await maker.create(groupName('probe'), probeLimits);
      await probe.events();
      await Promise.all(probe.joinFiles.map((file) => sweep(dirname(dirname(file)))));
      return maker;
    } catch (error) {
      reasons.push(`${maker.description}: ${messageOf(error)}`);
    }
  }
  return reasons.join('; ');
};

/** Names of groups begin with this and the process id of their maker. */
const prefix = 'gantry-';

/** Removes the empty groups of makers that were killed before they could. */
const sweep = async (parent: string): Promise<void> => {
  for (const name of await readdir(parent)) {
    const maker = Number(new RegExp(`^${prefix}(\\d+)-`).exec(name)?.[1]);
    if (!maker || existsSync(`/proc/${maker}`)) continue;
    // One that still holds a process cannot be removed, and is not ours to end.
    await rmdir(join(parent, name)).catch(() => {});
  }
};

/** A name for the control group of a run. */
export const groupName = (id: string): string => `${prefix}${process.pid}-${id}`;

const root = '/sys/fs/cgroup';
const probeLimits = { memoryBytes: 2 ** 28, maxProcesses: 16 } as ScriptLimits;

/** One hierarchy for all controllers (version 2). */
const unified = (): GroupMaker | string => {
  if (!existsSync(join(root, 'cgroup.controllers'))) return 'no unified control groups';
  const parent = join(root, ownPath('') ?? '/');
  return {
    description: 'control groups, version 2',
    create: async (name, limits) => {
      // A group hands controllers down only when it holds no process itself, or is the root.
      await writeFile(join(parent, 'cgroup.subtree_control'), '+memory +pids').catch(() => {});
      const folder = join(parent, name);
      await mkdir(folder);
      await writeAll(folder, {
        'memory.max': limits.memoryBytes,
        'memory.swap.max': 0,
        'pids.max': limits.maxProcesses,
      });
      return {
        joinFiles: [join(folder, 'cgroup.procs')],
        events: async () => ({
          oomKills: await readCount(join(folder, 'memory.events'), 'oom_kill'),
          refusedForks: await readCount(join(folder, 'pids.events'), 'max'),
        }),
        [Symbol.asyncDispose]: async () => {
          await writeFile(join(folder, 'cgroup.kill'), '1').catch(() => {});
          await removeGroup(folder);
        },
      };
    },
  };
};

/** A hierarchy for each controller (version 1). */
const separate = (): GroupMaker | string => {
  const [memoryPath, pidsPath] = [ownPath('memory'), ownPath('pids')];
  if (memoryPath === undefined || pidsPath === undefined) return 'no control groups for memory and processes';
  return {
    description: 'control groups, version 1',
    create: async (name, limits) => {
      const memory = join(root, 'memory', memoryPath, name);
      const pids = join(root, 'pids', pidsPath, name);
      await mkdir(memory);
      await mkdir(pids);
      await writeAll(memory, { 'memory.limit_in_bytes': limits.memoryBytes });
      // Only there where swap is accounted for.
      await writeAll(memory, { 'memory.memsw.limit_in_bytes': limits.memoryBytes }).catch(() => {});
      await writeAll(pids, { 'pids.max': limits.maxProcesses });
      return {
        joinFiles: [join(memory, 'cgroup.procs'), join(pids, 'cgroup.procs')],
        events: async () => ({
          oomKills: await readCount(join(memory, 'memory.oom_control'), 'oom_kill'),
          refusedForks: await readCount(join(pids, 'pids.events'), 'max'),
        }),
        [Symbol.asyncDispose]: async () => {
          for (const folder of [memory, pids]) await removeGroup(folder);
        },
      };
    },
  };
};

/** The path of this process's group below the mount of a controller; the controller of the unified hierarchy is ''. */
const ownPath = (controller: string): string | undefined => {
  if (!existsSync('/proc/self/cgroup')) return undefined;
  for (const line of readFileSync('/proc/self/cgroup', 'utf8').split('\n')) {
    const [, names = '', path = ''] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    if (path === '' || !names.split(',').includes(controller)) continue;
    // In a container the path may be the host's; the mount then shows only the container's own part.
    return existsSync(join(root, controller, path)) ? path : '/';
  }
  return undefined;
};

const writeAll = async (folder: string, values: Readonly<Record<string, number>>): Promise<void> => {
  for (const [file, value] of Object.entries(values)) await writeFile(join(folder, file), String(value));
};

const readCount = async (path: string, key: string): Promise<number> => {
  const line = (await readFile(path, 'utf8')).split('\n').find((each) => each.startsWith(`${key} `));
  return line === undefined ? 0 : Number(line.slice(key.length + 1));
};

/** A group can be removed only when its last process is gone, which takes a moment after the kill. */
const removeGroup = async (folder: string): Promise<void> => {
  for (let attempt = 0; attempt < 50; attempt += 1) {
    try {
      await rmdir(folder);
      return;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') return;
      if (code !== 'EBUSY') throw error;
      // A timer of a clock would not keep the process alive until the group is gone.
      await wait(attempt < 10 ? 1 : 20);
    }
  }
};
