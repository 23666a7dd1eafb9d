import { extname } from 'node:path';
import { GantryError } from '../kernel/errors.ts';

const types: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
  '.bmp': 'image/bmp',
  '.pdf': 'application/pdf',
  '.mp3': 'audio/mpeg',
  '.wav': 'audio/wav',
  '.ogg': 'audio/ogg',
};

/** The type that a file's name stands for, among those that some model takes. */
export const mediaTypeOf = (path: string): string | undefined => types[extname(path).toLowerCase()];

/** The endings of names that stand for these types. */
export const extensionsOf = (wanted: readonly string[]): readonly string[] =>
  Object.keys(types).filter((extension) => wanted.includes(types[extension] ?? ''));

/** The error for a file of a type that a tool does not take. */
export const typeRefused = (tool: string, path: string, taken: readonly string[]): GantryError =>
  new GantryError(
    'invalid_arguments',
    `"${path}" is of a type that ${tool} does not take (${mediaTypeOf(path) ?? (extname(path) || 'no extension')}). It takes ${extensionsOf(taken).join(', ')}.`,
  );
