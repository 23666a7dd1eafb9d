import type { FileHandle } from 'node:fs/promises';
import { isAbsolute, join, normalize, relative, sep } from 'node:path';
import { GantryError } from '../../../kernel/errors.ts';
import type { FileVolume, SavedFile } from '../../../volume/volume.ts';

/** A file that is open for reading; its owner closes it. */
export interface OpenAttachment extends AsyncDisposable {
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  /** The whole file. */
  read(): Promise<Uint8Array>;
  /** The file from its start, in pieces. */
  chunks(): AsyncIterable<Uint8Array>;
}

/** The folder `attachments` of the shared folder. */
export interface AttachmentStorage {
  /** Absolute path of the folder. */
  readonly folder: string;
  /**
   * Opens a file by its absolute path, or relative to the folder; an `attachments/` in front of a relative path is not needed and does no harm.
   * @throws {GantryError} `path_refused` when it is missing, no regular file, or lies outside.
   */
  open(path: string): Promise<OpenAttachment>;
  /** Writes a file under a name that is made safe and free. */
  save(name: string, contents: Uint8Array | AsyncIterable<Uint8Array>): Promise<SavedFile>;
}

const folderName = 'attachments';

/** Downloads beyond this are given up; a server must not be able to fill the disk with one file. */
export const maxFileBytes: number = 1024 * 1024 * 1024;

/** The storage on a volume. The folder is made when something is written. */
export const createAttachmentStorage = (volume: FileVolume): AttachmentStorage => {
  const folder = join(volume.root, folderName);

  const locate = (path: string): string => {
    const refused = (why: string): GantryError =>
      new GantryError('path_refused', `Path "${path}" ${why}; give the path of a file in ${folder}.`, {
        details: { path },
      });
    if (path.trim() === '') throw refused('is empty');
    const below = isAbsolute(path)
      ? relative(folder, normalize(path))
      : normalize(path.replace(/^(?:\.[/\\])*attachments[/\\]/, ''));
    if (below === '..' || below.startsWith(`..${sep}`) || isAbsolute(below)) throw refused('lies outside the folder');
    return join(folder, below);
  };

  return {
    folder,
    open: async (path) => {
      const located = locate(path);
      return await toOpenAttachment(located.slice(located.lastIndexOf(sep) + 1), await volume.openFile(located));
    },
    save: async (name, contents) => {
      const safe = toLeaf(name);
      return contents instanceof Uint8Array
        ? await volume.saveNew(folderName, safe, contents)
        : await volume.saveNewFrom(folderName, safe, contents, { maxBytes: maxFileBytes });
    },
  };
};

const toOpenAttachment = async (name: string, handle: FileHandle): Promise<OpenAttachment> => {
  try {
    const { size } = await handle.stat();
    return {
      name,
      size,
      read: () => handle.readFile(),
      // Never more than was announced, should the file grow meanwhile.
      chunks: () =>
        size === 0
          ? noChunks
          : handle.createReadStream({ start: 0, end: size - 1, autoClose: false, highWaterMark: 262_144 }),
      [Symbol.asyncDispose]: () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    throw error;
  }
};

const noChunks: AsyncIterable<Uint8Array> = {
  [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve({ done: true as const, value: undefined }) }),
};

/** The last part of a name that a stranger chose, with what is not allowed in file names replaced. */
const toLeaf = (name: string): string => {
  const leaf = name.slice(Math.max(name.lastIndexOf('/'), name.lastIndexOf('\\')) + 1);
  const safe = leaf.replaceAll(/[<>:"|?*\p{Cc}]/gu, '_').trim();
  return /^\.*$/.test(safe) ? 'attachment' : safe;
};
