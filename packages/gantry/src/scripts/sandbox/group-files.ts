import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { GantryError } from '../../kernel/errors.ts';
import type { GroupTree } from './group-tree.ts';

/** Writes limits into the files of a group. */
export const writeLimits = async (
  tree: GroupTree,
  folder: string,
  values: Readonly<Record<string, number>>,
): Promise<void> => {
  for (const [file, value] of Object.entries(values)) await tree.write(join(folder, file), String(value));
};

/** A number out of a file of lines `key value`; 0 when the kernel does not count it. */
export const readCount = async (tree: GroupTree, path: string, key: string): Promise<number> => {
  const line = (await tree.read(path)).split('\n').find((each) => each.startsWith(`${key} `));
  return line === undefined ? 0 : Number(line.slice(key.length + 1));
};

/**
 * Ends the processes that are left in a group and removes it. They are gone only a moment after they were killed.
 * @throws {GantryError} `execution_failed` when some withstand.
 */
export const removeGroup = async (tree: GroupTree, folder: string): Promise<void> => {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    try {
      await tree.remove(folder);
      return;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') return;
      if (code !== 'EBUSY') throw error;
    }
    const left = (await tree.read(join(folder, 'cgroup.procs'))).split('\n').filter(Boolean);
    for (const pid of left) tree.kill(Number(pid));
    // A timer of a clock would not keep the process alive until the group is gone.
    await wait(attempt < 10 ? 1 : 20);
  }
  throw new GantryError('execution_failed', `Processes of a script could not be ended; they are in ${folder}.`);
};
