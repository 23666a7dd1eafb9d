import * as z from 'zod';
import { GantryError } from '../kernel/errors.ts';
import { nearest } from '../kernel/nearest.ts';
import { foldKey, normalizeKey } from '../memory/memory-key.ts';
import type { MemoryEntry } from '../memory/working-memory.ts';
import { flattenText } from '../text/flatten.ts';
import type { Operation } from './operation.ts';
import { defineOperation } from './operation.ts';

/** An entry of working memory in a list. */
export interface MemoryEntryInfo {
  /** Full path: `session/{id}/…`. */
  readonly key: string;
  /** Length of its text in characters. */
  readonly chars: number;
  readonly category: string | null;
  readonly tags: readonly string[];
  /** ISO time. */
  readonly savedAt: string;
  /** ISO time. */
  readonly expiresAt: string;
}

/** An entry with its text. */
export interface MemoryEntryShown extends MemoryEntryInfo {
  readonly text: string;
}

const shape = {
  key: z.string(),
  chars: z.number().describe('Length of its text.'),
  category: z.string().nullable(),
  tags: z.array(z.string()),
  savedAt: z.string().describe('ISO time.'),
  expiresAt: z.string().describe('ISO time.'),
};

/** `memory.list` */
export const memoryList: Operation<
  { readonly prefix?: string | undefined },
  { readonly entries: readonly MemoryEntryInfo[] }
> = defineOperation({
  name: 'memory.list',
  summary: 'Lists the entries of working memory, newest first.',
  method: 'GET',
  path: '/memory',
  input: z.strictObject({
    prefix: z
      .string()
      .optional()
      .describe('Only keys that begin so, whatever their case, such as "session/"; default all.'),
  }),
  output: z.strictObject({ entries: z.array(z.strictObject(shape)) }),
  handler: async ({ prefix = '' }, { memory }) => {
    const start = foldPrefix(prefix);
    const entries = await memory.list(start.slice(0, Math.max(0, start.lastIndexOf('/'))));
    return { entries: entries.filter(({ key }) => foldKey(key).startsWith(start)).map(toInfo) };
  },
});

/** `memory.show` */
export const memoryShow: Operation<{ readonly key: string }, MemoryEntryShown> = defineOperation({
  name: 'memory.show',
  summary: 'Shows an entry of working memory.',
  method: 'GET',
  path: '/memory/{key}',
  input: z.strictObject({ key: z.string().min(1).describe('Full key; case does not matter.') }),
  output: z.strictObject({ ...shape, text: z.string() }),
  handler: async ({ key }, { memory }) => {
    const entry = await memory.get(key);
    if (entry) return { ...toInfo(entry), text: entry.text };
    const all = await memory.list('');
    const near = nearest(
      normalizeKey(key),
      all.map((other) => other.key),
    );
    const hint = near.length === 0 ? '' : ` Did you mean ${near.map((other) => `"${other}"`).join(', ')}?`;
    throw new GantryError(
      'memory_unknown',
      `There is no entry "${flattenText(key, { maxChars: 200 })}" in working memory; it was never saved, was deleted, or has expired.${hint}`,
      { details: { key } },
    );
  },
});

// A slash at the end is meant: "session/a/" leaves out "session/ab".
const foldPrefix = (prefix: string): string => {
  const folded = foldKey(prefix);
  return folded !== '' && prefix.trimEnd().endsWith('/') ? `${folded}/` : folded;
};

const toInfo = ({ key, text, category, tags, savedAtMs, expiresAtMs }: MemoryEntry): MemoryEntryInfo => ({
  key,
  chars: text.length,
  category: category ?? null,
  tags: tags ?? [],
  savedAt: new Date(savedAtMs).toISOString(),
  expiresAt: new Date(expiresAtMs).toISOString(),
});
