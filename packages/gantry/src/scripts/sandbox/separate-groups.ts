import { join, resolve } from 'node:path';
import type { GroupMaker } from './cgroup.ts';
import { readCount, removeGroup, writeLimits } from './group-files.ts';
import type { GroupTree } from './group-tree.ts';
import { ownGroupOf } from './group-tree.ts';

/** Makes groups where each controller has a hierarchy of its own (version 1); gives the reason where there are none. */
export const separateGroups = (tree: GroupTree): GroupMaker | string => {
  const [memoryPath, pidsPath] = [ownGroupOf(tree, 'memory'), ownGroupOf(tree, 'pids')];
  if (memoryPath === undefined || pidsPath === undefined) return 'no control groups for memory and processes';
  const parents = [resolve(`${tree.root}/memory/${memoryPath}`), resolve(`${tree.root}/pids/${pidsPath}`)] as const;
  return {
    description: 'control groups, version 1',
    parents,
    create: async (name, limits) => {
      await using made = new AsyncDisposableStack();
      const [memory, pids] = [join(parents[0], name), join(parents[1], name)];
      for (const folder of [memory, pids]) {
        await tree.make(folder);
        made.defer(() => removeGroup(tree, folder));
      }
      await writeLimits(tree, memory, { 'memory.limit_in_bytes': limits.memoryBytes });
      // Only there where swap is accounted for.
      await writeLimits(tree, memory, { 'memory.memsw.limit_in_bytes': limits.memoryBytes }).catch(() => {});
      await writeLimits(tree, pids, { 'pids.max': limits.maxProcesses });
      const kept = made.move();
      return {
        joinFiles: [join(memory, 'cgroup.procs'), join(pids, 'cgroup.procs')],
        events: async () => ({
          oomKills: await readCount(tree, join(memory, 'memory.oom_control'), 'oom_kill'),
          refusedForks: await readCount(tree, join(pids, 'pids.events'), 'max'),
        }),
        [Symbol.asyncDispose]: async () => {
          // Whoever is left starts no others while it is ended.
          await writeLimits(tree, pids, { 'pids.max': 0 });
          await kept.disposeAsync();
        },
      };
    },
  };
};
