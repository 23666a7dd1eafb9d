import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { lstat, mkdir, open, realpath, rm } from 'node:fs/promises';
import { isAbsolute, join, relative, sep } from 'node:path';
import { GantryError } from '../kernel/errors.ts';
import { toFileName, withSuffix } from './file-name.ts';

/** A file that was written to the shared folder. */
export interface SavedFile {
  /** Absolute path, as other tools and scripts take it. */
  readonly path: string;
  readonly name: string;
  /** Bytes. */
  readonly size: number;
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

/** Opens the shared folder, which is made when it is first written to. */
export const createVolume = (root: string): Volume => {
  const refused = (path: string, why: string): GantryError =>
    new GantryError('path_refused', `Path "${path}" ${why}; use a path inside ${root}, without "..".`, {
      details: { path },
    });

  const inside = (path: string): string => {
    if (path.includes('\0')) throw refused(path.replaceAll('\0', '?'), 'holds a NUL character');
    const target = isAbsolute(path) ? path : join(root, path);
    if (path.split(/[/\\]/).includes('..')) throw refused(path, 'contains ".."');
    const below = relative(root, target);
    if (below === '..' || below.startsWith(`..${sep}`) || isAbsolute(below))
      throw refused(path, 'is outside the shared folder');
    return target;
  };

  /** Every existing step from the root to the target must be a real folder or file, not a link. */
  const refuseLinks = async (path: string, target: string): Promise<void> => {
    let step = await realpath(root);
    for (const part of relative(root, target).split(sep).filter(Boolean)) {
      step = join(step, part);
      const found = await lstat(step).catch(missing);
      if (!found) return;
      if (found.isSymbolicLink()) throw refused(path, 'leads through a link');
    }
  };

  const createExclusively = async (
    folder: string,
    name: string,
  ): Promise<{ handle: FileHandle; path: string; name: string }> => {
    for (let number = 1; ; number += 1) {
      const candidate = number === 1 ? name : withSuffix(name, number);
      const path = join(folder, candidate);
      try {
        const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
        return { handle: await open(path, flags, 0o644), path, name: candidate };
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
    }
  };

  return {
    root,
    saveNew: async (folder, name, bytes) => {
      const target = inside(folder);
      await mkdir(root, { recursive: true });
      await refuseLinks(folder, target);
      await mkdir(target, { recursive: true });
      const file = await createExclusively(target, toFileName(name));
      try {
        await file.handle.writeFile(bytes);
      } catch (error) {
        await rm(file.path, { force: true });
        throw error;
      } finally {
        await file.handle.close();
      }
      return { path: file.path, name: file.name, size: bytes.byteLength };
    },
    resolve: async (path) => {
      const target = inside(path);
      await mkdir(root, { recursive: true });
      await refuseLinks(path, target);
      return target;
    },
  };
};

const missing = (error: NodeJS.ErrnoException): undefined => {
  if (error.code === 'ENOENT') return undefined;
  throw error;
};
