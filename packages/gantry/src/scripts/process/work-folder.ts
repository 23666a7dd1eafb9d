import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:fs';
import { chmod, chown, lstat, mkdir, mkdtemp, open, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, normalize } from 'node:path';
import { GantryError } from '../../kernel/errors.ts';
import type { ScriptFile, ScriptLimits } from '../runner.ts';
import { isAbandoned, ownerTag } from './owner-tag.ts';

/** The folder of one run on the host. */
export interface WorkFolder extends AsyncDisposable {
  /** Absolute path; the current folder of the script. */
  readonly path: string;
  /** Absolute path of a temporary folder beside it, where one was asked for. */
  readonly tmp?: string | undefined;
  /** Writes a file that the run is given. */
  put(path: string, content: Uint8Array | string): Promise<void>;
  /** Bytes on disk; stops counting above `enough`. */
  measure(enough: number): Promise<number>;
  /**
   * Reads what the script left: regular files that are new or changed. Links, pipes, sockets and devices are never opened.
   * Call it when no process of the run is left.
   */
  collect(limits: ScriptLimits): Promise<{ files: ScriptFile[]; leftOut: string[] }>;
}

/** The user that a script runs as, where that is not the host's own. */
export interface ScriptUser {
  readonly uid: number;
  readonly gid: number;
}

const runPrefix = 'gantry-run-';
const deepest = 20;
// A run that litters is not read to the last file.
const mostEntries = 10_000;

/** Makes an empty folder that belongs to the user of the run. Disposing removes it, whatever is in it. */
export const createWorkFolder = async (
  options: { user?: ScriptUser | undefined; withTmp?: boolean | undefined } = {},
): Promise<WorkFolder> => {
  const { user } = options;
  const base = await mkdtemp(join(tmpdir(), `${runPrefix}${ownerTag()}-`));
  const path = join(base, 'work');
  const given = new Map<string, Buffer>();
  const own = async (target: string): Promise<void> => {
    if (user) await chown(target, user.uid, user.gid);
  };
  const tmp = options.withTmp ? join(base, 'tmp') : undefined;
  for (const folder of tmp === undefined ? [path] : [path, tmp]) {
    await mkdir(folder, { mode: 0o700 });
    await own(folder);
  }
  // Others pass through to the folder of the run, and see nothing on the way.
  if (user) await chmod(base, 0o711);

  return {
    path,
    tmp,
    put: async (name, content) => {
      const clean = normalize(name);
      if (clean.startsWith('..') || clean.startsWith('/') || clean.includes('\0') || clean === '.')
        throw new GantryError(
          'invalid_arguments',
          `The file "${name}" must lie in the work folder; give a relative path.`,
        );
      const bytes = Buffer.from(content as Uint8Array);
      const target = join(path, clean);
      const parents: string[] = [];
      for (let folder = dirname(clean); folder !== '.'; folder = dirname(folder)) parents.unshift(join(path, folder));
      for (const folder of parents) {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        await own(folder);
      }
      if (given.has(clean))
        throw new GantryError('invalid_arguments', `The file "${name}" is given twice, or is the script itself.`);
      await writeFile(target, bytes, { mode: 0o600, flag: 'wx' });
      await own(target);
      given.set(clean, bytes);
    },
    measure: (enough) => measureTrees(tmp === undefined ? [path] : [path, tmp], enough, mostEntries),
    collect: async (limits) => {
      const files: ScriptFile[] = [];
      const leftOut: string[] = [];
      let total = 0;
      let seen = 0;
      for await (const { name, kind } of walk(path)) {
        if ((seen += 1) > mostEntries) break;
        if (kind === 'folder') continue;
        if (kind === 'other') {
          leftOut.push(`${name}: not a regular file`);
          continue;
        }
        if (files.length >= limits.maxFiles) {
          leftOut.push(`${name}: more than ${limits.maxFiles} files`);
          if (leftOut.length > limits.maxFiles) break;
          continue;
        }
        const room = Math.min(limits.maxFileBytes, limits.maxDiskBytes - total);
        const read = await readRegular(join(path, name), room);
        if (typeof read === 'string') {
          leftOut.push(`${name}: ${read}`);
          continue;
        }
        if (given.get(name)?.equals(read)) continue;
        total += read.length;
        files.push({ path: name, bytes: read });
      }
      return { files, leftOut };
    },
    [Symbol.asyncDispose]: () => removeTree(base),
  };
};

/** Removes the folders of runs whose host was killed before it could. */
export const sweepWorkFolders = async (): Promise<void> => {
  for (const name of await readdir(tmpdir())) {
    if (!isAbandoned(name, runPrefix)) continue;
    const path = join(tmpdir(), name);
    const found = await lstat(path).catch(() => undefined);
    // Everybody can make a folder of such a name, and change it while it is walked through.
    if (found?.isDirectory() && found.uid === process.getuid?.()) await removeTree(path);
  }
};

/** Bytes on disk of everything in the folders; stops counting above `enough`, and calls too many entries too much. */
export const measureTrees = async (
  folders: readonly string[],
  enough: number,
  mostEntries: number,
): Promise<number> => {
  let bytes = 0;
  let seen = 0;
  for (const folder of folders)
    for await (const { name } of walk(folder)) {
      bytes += (await lstat(join(folder, name))).blocks * 512;
      if (bytes > enough) return bytes;
      if ((seen += 1) > mostEntries) return enough + 1;
    }
  return bytes;
};

/** Lets everybody read what is in a folder, but for links and files with a second name elsewhere. */
export const openTree = async (root: string): Promise<void> => {
  await chmod(root, 0o755);
  for await (const { name, kind } of walk(root)) {
    const path = join(root, name);
    if (kind === 'folder') await chmod(path, 0o755);
    if (kind !== 'file') continue;
    const { mode, nlink } = await lstat(path);
    if (nlink === 1) await chmod(path, (mode & 0o100) === 0 ? 0o644 : 0o755);
  }
};

interface Entry {
  /** Path below the folder. */
  readonly name: string;
  readonly kind: 'file' | 'folder' | 'other';
}

/** Everything below a folder, without following links. */
const walk = async function* (root: string, below = '', depth = 0): AsyncGenerator<Entry> {
  for (const entry of await readdir(join(root, below), { withFileTypes: true })) {
    const name = join(below, entry.name);
    const kind = entry.isFile() ? 'file' : entry.isDirectory() ? 'folder' : 'other';
    yield { name, kind };
    if (kind === 'folder' && depth < deepest) yield* walk(root, name, depth + 1);
  }
};

/** The bytes of a file, or why it is left alone. */
const readRegular = async (path: string, maxBytes: number): Promise<Buffer | string> => {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const handle = await open(path, flags).catch((error: NodeJS.ErrnoException) => error);
  if (handle instanceof Error) return `cannot be read (${handle.code})`;
  try {
    const found = await handle.stat();
    if (!found.isFile()) return 'not a regular file';
    // A second name may belong to a file outside that the script itself could not read.
    if (found.nlink > 1) return 'has a second name (hard link)';
    if (found.size > maxBytes) return `larger than what is left of the limit (${found.size} bytes)`;
    return await handle.readFile();
  } finally {
    await handle.close();
  }
};

const removeTree = async (path: string): Promise<void> => {
  try {
    await rm(path, { recursive: true, force: true, maxRetries: 2 });
  } catch {
    // Folders without permissions, or nested deeper than any path can name, need a tool that walks by descriptor.
    const command = 'chmod -R u+rwx -- "$1" 2>/dev/null; exec rm -rf -- "$1"';
    const child = spawn('/bin/sh', ['-c', command, 'sh', path], { stdio: 'ignore', env: { PATH: '/usr/bin:/bin' } });
    await once(child, 'exit');
  }
};
