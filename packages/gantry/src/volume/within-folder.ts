import { constants, existsSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { lstat, mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';

/** Why a folder cannot be entered. */
export type FolderProblem = 'link' | 'missing' | 'file';

/** What {@link withinFolder} needs. */
export interface FolderOptions {
  /** Absolute path of the folder that everything must lie in; itself it may be reached through links. */
  readonly root: string;
  /** Names of the folders from the root to the one that is meant. */
  readonly steps: readonly string[];
  /** Makes folders that are missing. */
  readonly create: boolean;
  /** Makes the error for a folder that cannot be entered. */
  refuse(problem: FolderProblem): Error;
}

// The entry of an open folder below /proc is that very folder, whatever its path means by now. Elsewhere each step is checked, but a
// link that is put in its place a moment later would be followed.
const openFolders = process.platform === 'linux' && existsSync('/proc/self/fd') ? '/proc/self/fd' : undefined;

/**
 * Runs `work` with a path of a folder below the root that was reached without following a link, and that no link can redirect while
 * the work goes on (on Linux).
 */
export const withinFolder = async <T>(options: FolderOptions, work: (folder: string) => Promise<T>): Promise<T> => {
  const { root, steps, create, refuse } = options;
  let handle = await open(root, constants.O_RDONLY | constants.O_DIRECTORY);
  let path = root;
  try {
    for (const step of steps) {
      const here = pathOf(handle, path);
      const next = await enter(join(here, step), create, refuse);
      await handle.close();
      handle = next;
      path = join(path, step);
    }
    return await work(pathOf(handle, path));
  } finally {
    await handle.close();
  }
};

const pathOf = (handle: FileHandle, path: string): string => (openFolders ? `${openFolders}/${handle.fd}` : path);

const enter = async (path: string, create: boolean, refuse: FolderOptions['refuse']): Promise<FileHandle> => {
  try {
    return await open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch (error) {
    switch ((error as NodeJS.ErrnoException).code) {
      case 'ENOENT':
        if (!create) throw refuse('missing');
        await makeFolder(path);
        return enter(path, false, refuse);
      case 'ELOOP':
      case 'ENOTDIR':
        throw refuse((await lstat(path)).isSymbolicLink() ? 'link' : 'file');
      case undefined:
      default:
        throw error;
    }
  }
};

// Somebody else may make the same folder at the same time.
const makeFolder = async (path: string): Promise<void> => {
  try {
    await mkdir(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
};
