import type { FileHandle } from 'node:fs/promises';
import { throwIfAborted } from '../kernel/abort.ts';
import type { FileKind } from './file-kind.ts';
import { fileKindOf, sampleBytes } from './file-kind.ts';

const chunkBytes = 65_536;

/** What an open file holds. */
export const kindOfFile = async (file: FileHandle): Promise<FileKind> => {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(sampleBytes), 0, sampleBytes, 0);
  return fileKindOf(buffer.subarray(0, bytesRead));
};

/**
 * The lines of a text file without their ends, one after the other; a file of any size needs the memory of a piece only.
 * Of a line longer than `maxLineChars` the rest is left out.
 */
export async function* linesOf(
  file: FileHandle,
  options: {
    readonly encoding: string;
    readonly maxLineChars: number;
    readonly signal?: AbortSignal | undefined;
  },
): AsyncGenerator<{ readonly text: string; readonly isCut: boolean }> {
  const { encoding, maxLineChars, signal } = options;
  const decoder = new TextDecoder(encoding);
  const buffer = Buffer.alloc(chunkBytes);
  let line = '';
  let isCut = false;
  const extend = (text: string): void => {
    const room = maxLineChars - line.length;
    line += text.length > room ? text.slice(0, room) : text;
    isCut ||= text.length > room;
  };
  const finished = (): { text: string; isCut: boolean } => {
    const text = line.endsWith('\r') ? line.slice(0, -1) : line;
    const result = { text, isCut };
    line = '';
    isCut = false;
    return result;
  };
  let hasOpenLine = false;
  for (let position = 0; ;) {
    throwIfAborted(signal);
    const { bytesRead } = await file.read(buffer, 0, chunkBytes, position);
    position += bytesRead;
    const text = bytesRead === 0 ? decoder.decode() : decoder.decode(buffer.subarray(0, bytesRead), { stream: true });
    let start = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
      extend(text.slice(start, end));
      yield finished();
      start = end + 1;
      hasOpenLine = false;
    }
    if (start < text.length) {
      extend(text.slice(start));
      hasOpenLine = true;
    }
    if (bytesRead === 0) break;
  }
  if (hasOpenLine) yield finished();
}

/** Some lines of a file. */
export interface LineRange {
  readonly lines: readonly string[];
  /** Lines of the whole file; undefined when counting was not worth it, since the file is large. */
  readonly total?: number | undefined;
  /** There are lines after these. */
  readonly hasMore: boolean;
  /** Numbers (from 1) of the lines that are not whole. */
  readonly cut: readonly number[];
}

/**
 * Reads lines from number `offset` (from 1) on: at most `limit`, and no more than `maxChars` characters, but one line at least. Lines
 * after them are counted while no more than `maxCountedBytes` of the file have been read.
 */
export const readLines = async (
  file: FileHandle,
  options: {
    readonly encoding: string;
    readonly offset: number;
    readonly limit: number;
    readonly maxChars: number;
    readonly maxCountedBytes: number;
    readonly signal?: AbortSignal | undefined;
  },
): Promise<LineRange> => {
  const { encoding, offset, limit, maxChars, maxCountedBytes, signal } = options;
  const { size } = await file.stat();
  const lines: string[] = [];
  const cut: number[] = [];
  let chars = 0;
  let number = 0;
  let isFull = false;
  for await (const { text, isCut } of linesOf(file, { encoding, maxLineChars: maxChars, signal })) {
    number += 1;
    if (number < offset) continue;
    isFull ||= lines.length >= limit || (lines.length > 0 && chars + text.length > maxChars);
    if (isFull) {
      if (size > maxCountedBytes) return { lines, hasMore: true, cut };
      continue;
    }
    lines.push(text);
    chars += text.length + 1;
    if (isCut) cut.push(number);
  }
  return { lines, total: number, hasMore: isFull, cut };
};
