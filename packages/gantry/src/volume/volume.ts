import type { Stats } from 'node:fs';
import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { lstat, open, readdir, realpath, rename, rm } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path';
import { GantryError } from '../kernel/errors.ts';
import { newId } from '../kernel/ids.ts';
import { makeFolder } from '../kernel/make-folder.ts';
import { toFileName, withSuffix } from './file-name.ts';
import type { FolderProblem } from './within-folder.ts';
import { withinFolder } from './within-folder.ts';

/** A file that was written to the shared folder. */
export interface SavedFile {
  /** Absolute path, as other tools and scripts take it. */
  readonly path: string;
  readonly name: string;
  /** Bytes. */
  readonly size: number;
}

/** Something in the shared folder. */
export interface VolumeEntry {
  /** Relative to the root, with `/` between names. */
  readonly path: string;
  /** Links are shown and never followed. */
  readonly kind: 'file' | 'folder' | 'link' | 'other';
  /** Bytes. */
  readonly size: number;
  /** Epoch milliseconds. */
  readonly modifiedMs: number;
}

/** What was found in a folder. */
export interface VolumeListing {
  /** Folders before what lies in them, names in code-unit order. */
  readonly entries: readonly VolumeEntry[];
  /** False when there was more than `maxEntries`. */
  readonly isComplete: boolean;
}

/** The shared folder: the one place that decides what lies inside it, and that writes to it. */
export interface Volume {
  /** Absolute path of the folder. */
  readonly root: string;
  /**
   * Writes a new file into a folder of the volume. An existing file is never touched: the name gets `-2`, `-3`, … until it
   * is free. The name is made safe first.
   */
  saveNew(folder: string, name: string, bytes: Uint8Array): Promise<SavedFile>;
  /**
   * The absolute path of something inside, given relative to the root or as an absolute path below it.
   * @throws {GantryError} `path_refused` when it leaves the folder, by `..`, by a link, or by being somewhere else.
   */
  resolve(path: string): Promise<string>;
}

/** The shared folder for those who work with its files by path. Nothing follows a link. */
export interface FileVolume extends Volume {
  /**
   * Writes a file at a path, making the folders above it. With `overwrite`, an existing file is replaced in one step, so readers see
   * the old contents or the new.
   * @throws {GantryError} `path_refused` when it is there already, is a folder, or lies outside.
   */
  write(path: string, bytes: Uint8Array, options?: { readonly overwrite?: boolean | undefined }): Promise<SavedFile>;
  /**
   * Like {@link Volume.saveNew}, from chunks as they come. What was written of a file that ends with an error is removed again.
   * @throws {GantryError} `limit_reached` after `maxBytes`; and whatever the chunks throw.
   */
  saveNewFrom(
    folder: string,
    name: string,
    chunks: AsyncIterable<Uint8Array>,
    options: { readonly maxBytes: number },
  ): Promise<SavedFile>;
  /**
   * Removes a file.
   * @throws {GantryError} `path_refused` when it is no regular file, or lies outside. One that is gone already is no error.
   */
  remove(path: string): Promise<void>;
  /**
   * Opens a file for reading; the caller closes it.
   * @throws {GantryError} `path_refused` when it is missing, no regular file, or lies outside.
   */
  openFile(path: string): Promise<FileHandle>;
  /**
   * What lies in a folder, `depth` levels deep.
   * @throws {GantryError} `path_refused` when it is missing, a file, or lies outside.
   */
  list(folder: string, options: { readonly depth: number; readonly maxEntries: number }): Promise<VolumeListing>;
}

/** Opens the shared folder, which is made when it is first used. */
export const createVolume = (root: string): FileVolume => {
  const refused = (path: string, why: string, wayOut?: string, facts: object = {}): GantryError =>
    new GantryError('path_refused', `Path "${path}" ${why}; ${wayOut ?? `use a path inside ${root}, without ".."`}.`, {
      details: { path, ...facts },
    });

  const inside = (path: string): string => {
    if (path.includes('\0')) throw refused(path.replaceAll('\0', '?'), 'holds a NUL character');
    const target = isAbsolute(path) ? path : join(root, path);
    if (path.split(/[/\\]/).includes('..')) throw refused(path, 'contains ".."');
    const below = relative(root, target);
    if (below === '..' || below.startsWith(`..${sep}`) || isAbsolute(below))
      throw refused(path, 'is outside the shared folder', undefined, { isOutside: true });
    return target;
  };

  const stepsTo = (target: string): string[] => relative(root, target).split(sep).filter(Boolean);

  /** Every existing step from the root to the target must be a real folder or file, not a link. */
  const refuseLinks = async (path: string, target: string): Promise<void> => {
    let step = await realpath(root);
    for (const part of stepsTo(target)) {
      step = join(step, part);
      const found = await lstat(step).catch(missing);
      if (!found) return;
      if (found.isSymbolicLink()) throw refused(path, 'leads through a link');
    }
  };

  const within = async <T>(
    path: string,
    folder: string,
    options: { readonly create: boolean },
    work: (folder: string) => Promise<T>,
  ): Promise<T> => {
    await makeFolder(root);
    const refuse = (problem: FolderProblem): GantryError => {
      if (problem === 'link') return refused(path, 'leads through a link');
      return problem === 'missing'
        ? refused(path, 'does not exist', 'list the folder above it to see what there is')
        : refused(path, 'leads through a file', 'only folders hold something');
    };
    try {
      return await withinFolder({ root, steps: stepsTo(folder), create: options.create, refuse }, work);
    } catch (error) {
      throw (error as NodeJS.ErrnoException).code === 'ENAMETOOLONG'
        ? refused(path, 'has a name that is too long', 'shorten it to less than 200 characters')
        : error;
    }
  };

  /** Adds what lies in a folder to `found`; false when that would be more than allowed. */
  const describe = (prefix: string, depth: number, maxEntries: number, found: VolumeEntry[]): Promise<boolean> =>
    within(prefix, join(root, prefix), { create: false }, async (opened) => {
      for (const name of (await readdir(opened)).sort()) {
        if (found.length >= maxEntries) return false;
        const stats = await lstat(join(opened, name)).catch(missing);
        if (!stats) continue;
        const path = prefix === '' ? name : `${prefix}/${name}`;
        found.push({ path, kind: kindOf(stats), size: stats.size, modifiedMs: Math.floor(stats.mtimeMs) });
        if (!stats.isDirectory() || depth <= 1) continue;
        if (!(await describe(path, depth - 1, maxEntries, found).catch(unreadable))) return false;
      }
      return true;
    });

  /** Writes the contents under the first name that is free. */
  const saveUnderFreeName = (
    folder: string,
    name: string,
    contents: Uint8Array | AsyncIterable<Uint8Array>,
  ): Promise<Pick<SavedFile, 'path' | 'name'>> => {
    const target = inside(folder);
    return within(folder, target, { create: true }, async (opened) => {
      const safe = toFileName(name);
      for (let number = 1; ; number += 1) {
        const candidate = number === 1 ? safe : withSuffix(safe, number);
        if (await createFile(join(opened, candidate), contents))
          return { path: join(target, candidate), name: candidate };
      }
    });
  };

  return {
    root,
    saveNew: async (folder, name, bytes) => ({
      ...(await saveUnderFreeName(folder, name, bytes)),
      size: bytes.byteLength,
    }),
    saveNewFrom: async (folder, name, chunks, { maxBytes }) => {
      let size = 0;
      const counted = async function* (): AsyncGenerator<Uint8Array> {
        for await (const chunk of chunks) {
          size += chunk.byteLength;
          if (size > maxBytes)
            throw new GantryError('limit_reached', `File "${name}" is larger than ${maxBytes} bytes.`, {
              details: { limit: maxBytes, scope: 'file' },
            });
          yield chunk;
        }
      };
      return { ...(await saveUnderFreeName(folder, name, counted())), size };
    },
    remove: async (path) => {
      const target = inside(path);
      if (target === root) throw refused(path, 'is a folder', 'give the path of a file in it');
      await within(path, dirname(target), { create: false }, async (opened) => {
        const file = join(opened, basename(target));
        const found = await lstat(file).catch(missing);
        if (!found) return;
        if (!found.isFile()) throw refused(path, 'is not a regular file');
        await rm(file, { force: true });
      });
    },
    write: async (path, bytes, { overwrite = false } = {}) => {
      const target = inside(path);
      const name = basename(target);
      if (target === root || /[/\\]$/.test(path)) throw refused(path, 'is a folder', 'add the name of a file');
      if (/[\p{Cc}\p{Cs}\u2028\u2029]/u.test(path)) throw refused(path, 'holds control characters', 'leave them out');
      return within(path, dirname(target), { create: true }, async (opened) => {
        const file = join(opened, name);
        const found = await lstat(file).catch(missing);
        if (found?.isDirectory()) throw refused(path, 'is a folder', 'add the name of a file');
        const isTaken = refused(path, 'is there already', 'set overwrite to replace it, or choose another name');
        if (!overwrite) {
          if (!(await createFile(file, bytes))) throw isTaken;
        } else {
          const draft = join(opened, `.${newId()}.tmp`);
          await createFile(draft, bytes);
          await rename(draft, file).catch(async (error: unknown) => {
            await rm(draft, { force: true });
            throw error;
          });
        }
        return { path: target, name, size: bytes.byteLength };
      });
    },
    openFile: async (path) => {
      const target = inside(path);
      const isFolder = (): GantryError => refused(path, 'is a folder', 'give the path of a file in it');
      if (target === root || /[/\\]$/.test(path)) throw isFolder();
      return within(path, dirname(target), { create: false }, async (opened) => {
        const file = join(opened, basename(target));
        const found = await lstat(file).catch(missing);
        if (!found) throw refused(path, 'does not exist', 'list the folder above it to see what there is');
        if (found.isSymbolicLink()) throw refused(path, 'leads through a link');
        if (found.isDirectory()) throw isFolder();
        // Opening a pipe would wait for its other end.
        const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
        if ((await handle.stat()).isFile()) return handle;
        await handle.close();
        throw refused(path, 'is not a regular file');
      });
    },
    list: async (folder, { depth, maxEntries }) => {
      const prefix = stepsTo(inside(folder)).join('/');
      const entries: VolumeEntry[] = [];
      return { entries, isComplete: await describe(prefix, depth, maxEntries, entries) };
    },
    resolve: async (path) => {
      const target = inside(path);
      await makeFolder(root);
      await refuseLinks(path, target);
      return target;
    },
  };
};

const kindOf = (stats: Stats): VolumeEntry['kind'] => {
  if (stats.isFile()) return 'file';
  if (stats.isDirectory()) return 'folder';
  return stats.isSymbolicLink() ? 'link' : 'other';
};

/** A folder below that is gone by now, or may not be read, is listed without what lies in it. */
const unreadable = (error: unknown): boolean => {
  if (GantryError.is(error) || (error as NodeJS.ErrnoException).code === 'EACCES') return true;
  throw error;
};

/** Writes a new file; false when something of that name is there. A file that could not be written whole is removed again. */
const createFile = async (path: string, contents: Uint8Array | AsyncIterable<Uint8Array>): Promise<boolean> => {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const handle = await open(path, flags, 0o644).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') return undefined;
    throw error;
  });
  if (!handle) return false;
  try {
    await handle.writeFile(contents);
    return true;
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
};

const missing = (error: NodeJS.ErrnoException): undefined => {
  if (error.code === 'ENOENT') return undefined;
  throw error;
};
