import { access, constants, mkdir, stat, statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/**
 * Makes a folder and those above it that are missing; one that is there is left as it is. `mode` holds for what is made.
 * @throws the error of the file system (`EACCES`, `ENOTDIR`, `EEXIST` where a file stands …).
 */
export const makeFolder = async (path: string, mode = 0o777): Promise<void> => {
  const missing: string[] = [];
  for (let at = resolve(path); !(await isFolder(at)) && at !== dirname(at); at = dirname(at)) missing.push(at);
  // One by one: Node's recursive mkdir never settles where the kernel says ENOENT to a folder in one that exists (/proc, 26.10).
  for (const folder of missing.reverse()) {
    try {
      await mkdir(folder, { mode });
    } catch (error) {
      // Another process may have made it meanwhile; below a file the next one says what is wrong.
      if (codeOf(error) !== 'EEXIST' || (folder === missing.at(-1) && !(await isFolder(folder)))) throw error;
    }
  }
};

/** What keeps a folder from being made or written, to follow its path in a sentence; looks only, changes nothing. */
export const folderProblem = async (path: string): Promise<string | undefined> => {
  for (let at = path; ; at = dirname(at)) {
    const found = await stat(at).catch(codeOf);
    if (typeof found === 'string') {
      if (isAbsence(found) && at !== dirname(at)) continue;
      return at === path ? `cannot be read (${found})` : `cannot be made: ${at} cannot be read (${found})`;
    }
    if (!found.isDirectory()) return at === path ? 'is no folder' : `cannot be made: ${at} is no folder`;
    const refused = await access(at, constants.W_OK | constants.X_OK).then(() => undefined, codeOf);
    if (refused === undefined && !(await belongsToKernel(at))) return undefined;
    const reason = refused ?? 'it holds no files';
    return at === path ? `cannot be written (${reason})` : `cannot be made: ${at} cannot be written (${reason})`;
  }
};

const isFolder = async (path: string): Promise<boolean> => {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    if (isAbsence(codeOf(error))) return false;
    throw error;
  }
};

// Access is granted to root there, and yet nothing can be made: magic numbers of procfs and sysfs on Linux (statfs(2)).
const kernelFileSystems: ReadonlySet<number> = new Set([0x9fa0, 0x62656572]);

const belongsToKernel = async (path: string): Promise<boolean> =>
  process.platform === 'linux' && kernelFileSystems.has((await statfs(path)).type);

const isAbsence = (code: string): boolean => code === 'ENOENT' || code === 'ENOTDIR';

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? 'unknown reason';
