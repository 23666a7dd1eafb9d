import { lstat, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * A folder for installed packages that the users of all runs may read, for hosts whose data folder is closed to them. Undefined
 * when somebody else made one of that name: what lies in it would run as part of scripts.
 */
export const openFolderForPackages = async (parent: string = tmpdir()): Promise<string | undefined> => {
  const ownId = process.getuid?.() ?? 0;
  const path = join(parent, `gantry-packages-${ownId}`);
  await mkdir(path, { mode: 0o755 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  const found = await lstat(path);
  return found.isDirectory() && found.uid === ownId && (found.mode & 0o022) === 0 ? path : undefined;
};
