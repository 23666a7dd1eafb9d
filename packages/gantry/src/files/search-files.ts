import { throwIfAborted } from '../kernel/abort.ts';
import { GantryError } from '../kernel/errors.ts';
import { cutText } from '../text/cut.ts';
import type { FileVolume } from '../volume/volume.ts';
import { kindOfFile, linesOf } from './text-file.ts';

/** A place where the words occur: a line of a file, or (without a line) its name. */
export interface FileHit {
  readonly path: string;
  /** From 1. */
  readonly line?: number | undefined;
  /** The line, cut around the words. */
  readonly text?: string | undefined;
}

/** What a search gave. */
export interface FileHits {
  readonly hits: readonly FileHit[];
  /** Files whose contents were looked at. */
  readonly searched: number;
  /** Text files that are too large to look into. */
  readonly tooLarge: readonly string[];
  /** False when the search ended early: too many hits or too much to read. */
  readonly isComplete: boolean;
}

const maxHits = 100;
const maxHitsOfFile = 10;
const maxEntries = 20_000;
const maxDepth = 32;
const maxFileBytes = 5_000_000;
const maxTotalBytes = 100_000_000;
const maxLineChars = 20_000;
const shownChars = 200;

/**
 * Looks for a text, ignoring case, in the names and the lines of the files below a folder, in order of path. Binary files are known by
 * their names only.
 */
export const searchFiles = async (
  volume: FileVolume,
  query: string,
  options: { readonly folder: string; readonly signal?: AbortSignal | undefined },
): Promise<FileHits> => {
  const { folder, signal } = options;
  const words = new RegExp(query.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`), 'iu');
  const { entries, isComplete } = await volume.list(folder, { depth: maxDepth, maxEntries });
  const hits: FileHit[] = [];
  const tooLarge: string[] = [];
  let searched = 0;
  let bytes = 0;
  for (const { path, kind, size } of entries) {
    throwIfAborted(signal);
    if (hits.length >= maxHits || bytes > maxTotalBytes) return { hits, searched, tooLarge, isComplete: false };
    if (words.test(path.slice(path.lastIndexOf('/') + 1))) hits.push({ path });
    if (kind !== 'file' || size === 0) continue;
    if (size > maxFileBytes) {
      tooLarge.push(path);
      continue;
    }
    bytes += size;
    searched += 1;
    const most = Math.min(maxHitsOfFile, maxHits - hits.length);
    hits.push(...(await hitsInFile(volume, path, words, most, signal)));
  }
  return { hits, searched, tooLarge, isComplete };
};

const hitsInFile = async (
  volume: FileVolume,
  path: string,
  words: RegExp,
  most: number,
  signal: AbortSignal | undefined,
): Promise<FileHit[]> => {
  const hits: FileHit[] = [];
  const opened = await volume.openFile(path).catch(goneOrForbidden);
  if (!opened) return hits;
  await using file = opened;
  const kind = await kindOfFile(file);
  if (kind.kind === 'binary') return hits;
  let line = 0;
  for await (const { text } of linesOf(file, { encoding: kind.encoding, maxLineChars, signal })) {
    line += 1;
    const at = text.search(words);
    if (at === -1) continue;
    if (hits.length >= most) break;
    const from = Math.max(0, at - shownChars / 4);
    hits.push({ path, line, text: cutText(text.slice(from), shownChars).trim() });
  }
  return hits;
};

// Between listing and opening, a file may go away or be replaced by something else; others may not be read by this process.
const goneOrForbidden = (error: unknown): undefined => {
  if (GantryError.is(error) || (error as NodeJS.ErrnoException).code === 'EACCES') return undefined;
  throw error;
};
