import { dirname, join, resolve } from 'node:path';
import { GantryError, messageOf } from '../../kernel/errors.ts';
import type { GroupMaker } from './cgroup.ts';
import { readCount, removeGroup, writeLimits } from './group-files.ts';
import type { GroupTree } from './group-tree.ts';
import { ownGroupOf } from './group-tree.ts';

const controllers = ['memory', 'pids'];
const hostName = 'gantry-host';

/**
 * Makes groups where one hierarchy serves all controllers (version 2); gives the reason where there is none. Where Gantry runs in
 * a group that was delegated to it, it moves into a group below that one, since only a group without processes of its own
 * hands controllers down.
 */
export const unifiedGroups = (tree: GroupTree): GroupMaker | string => {
  if (!tree.has(join(tree.root, 'cgroup.controllers'))) return 'no unified control groups';
  const own = resolve(`${tree.root}/${ownGroupOf(tree, '') ?? ''}`);
  // After a move the group to make others in is the one above.
  const parent = own.endsWith(`/${hostName}`) ? dirname(own) : own;
  return {
    description: 'control groups, version 2',
    parents: [parent],
    create: async (name, limits) => {
      await handDown(tree, parent);
      await using made = new AsyncDisposableStack();
      const folder = join(parent, name);
      await tree.make(folder);
      made.defer(() => removeGroup(tree, folder));
      await writeLimits(tree, folder, { 'memory.max': limits.memoryBytes, 'pids.max': limits.maxProcesses });
      // Only there where swap is accounted for.
      await writeLimits(tree, folder, { 'memory.swap.max': 0 }).catch(() => {});
      const kept = made.move();
      return {
        joinFiles: [join(folder, 'cgroup.procs')],
        events: async () => ({
          oomKills: await readCount(tree, join(folder, 'memory.events'), 'oom_kill'),
          refusedForks: await readCount(tree, join(folder, 'pids.events'), 'max'),
        }),
        [Symbol.asyncDispose]: async () => {
          // Kernels before 5.14 have no such file; the run itself has ended its processes there.
          await tree.write(join(folder, 'cgroup.kill'), '1').catch(() => {});
          await kept.disposeAsync();
        },
      };
    },
  };
};

/** Makes the controllers work in groups below `parent`. */
const handDown = async (tree: GroupTree, parent: string): Promise<void> => {
  const file = join(parent, 'cgroup.subtree_control');
  const active = (await tree.read(file)).trim().split(/\s+/);
  const order = controllers.filter((each) => !active.includes(each)).map((each) => `+${each}`);
  if (order.length === 0) return;
  try {
    await tree.write(file, order.join(' '));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EBUSY') throw error;
    await moveDown(tree, parent);
    await tree.write(file, order.join(' '));
  }
};

/** Moves this process and its descendants into a group below `parent`, if nobody else is in it. */
const moveDown = async (tree: GroupTree, parent: string): Promise<void> => {
  const ours = await familyOf(tree);
  const inside = (await tree.read(join(parent, 'cgroup.procs'))).trim().split('\n').map(Number);
  const strangers = inside.filter((pid) => !ours.has(pid)).length;
  if (strangers > 0)
    throw new GantryError(
      'execution_failed',
      `the group of Gantry holds ${strangers} other processes; run it as a service of its own (systemd: Delegate=yes)`,
    );
  const host = join(parent, hostName);
  if (!tree.has(host)) await tree.make(host);
  for (const pid of inside)
    try {
      await tree.write(join(host, 'cgroup.procs'), String(pid));
    } catch (error) {
      // One that has ended meanwhile need not be moved.
      if (tree.isAlive(pid))
        throw new GantryError('execution_failed', `process ${pid} cannot be moved: ${messageOf(error)}`, {
          cause: error,
        });
    }
};

const familyOf = async (tree: GroupTree): Promise<ReadonlySet<number>> => {
  const found = new Set<number>();
  const waiting = [tree.pid];
  for (let pid = waiting.pop(); pid !== undefined; pid = waiting.pop()) {
    found.add(pid);
    waiting.push(...(await tree.childrenOf(pid)).filter((child) => !found.has(child)));
  }
  return found;
};
