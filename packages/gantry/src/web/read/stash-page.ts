import { createHash } from 'node:crypto';
import type { WorkingMemory } from '../../memory/working-memory.ts';
import { chunkText } from '../../text/chunker.ts';
import { chunkTitle, toOutline } from '../../text/outline.ts';

/** A long page that lies in working memory. */
export interface StashedPage {
  readonly indexKey: string;
  readonly chunks: readonly { readonly heading: string; readonly key: string }[];
}

/** How pages are split. */
export interface StashOptions {
  readonly chunkMaxLength: number;
  readonly ttlMs: number;
}

/** Keeps pages in pieces. */
export type StashPage = (page: {
  readonly namespace: string;
  readonly url: string;
  readonly text: string;
}) => Promise<StashedPage | undefined>;

/**
 * Makes the function that splits a page at its headings and keeps the pieces and an outline of them under `{namespace}/web-{url}-…`.
 * A page that was kept before is replaced, pieces that it no longer has included. Undefined when there is nowhere to keep it.
 */
export const createStashPage =
  (memory: Pick<WorkingMemory, 'stash' | 'list' | 'delete'>, options: StashOptions): StashPage =>
  async ({ namespace, url, text }) => {
    const prefix = `web-${sanitisedUrl(url)}`;
    const stash = (key: string, body: string): Promise<string | undefined> =>
      memory.stash({ namespace, key: `${prefix}-${key}`, text: body, category: 'web', ttlMs: options.ttlMs });
    const pieces = chunkText(text, { maxChars: options.chunkMaxLength });
    const chunks: { heading: string; key: string }[] = [];
    for (const [index, piece] of pieces.entries()) {
      const key = await stash(
        `chunk${index}`,
        piece.level > 0 ? `${'#'.repeat(piece.level)} ${piece.heading}\n\n${piece.body}` : piece.body,
      );
      if (key === undefined) return undefined;
      chunks.push({ heading: chunkTitle(piece, index), key });
    }
    const indexKey = await stash(
      'index',
      toOutline(pieces, (index) => chunks[index]?.key ?? ''),
    );
    if (indexKey === undefined) return undefined;
    const stale = new RegExp(`/${prefix.replaceAll('.', '\\.')}-chunk(\\d+)$`, 'i');
    for (const entry of await memory.list(namespace)) {
      const number = stale.exec(entry.key)?.[1];
      if (number !== undefined && Number(number) >= chunks.length) await memory.delete(entry.key);
    }
    return { indexKey, chunks };
  };

const maxKeyChars = 80;

/** A URL as part of a key: letters, digits, `.` and `-` stay. A long one is cut and told apart by a hash. */
export const sanitisedUrl = (url: string): string => {
  const clean = url.replaceAll(/[^A-Za-z0-9.-]/g, '_').replace(/^_+/, '');
  if (clean.length <= maxKeyChars) return clean;
  return `${clean.slice(0, maxKeyChars)}-${createHash('sha256').update(url).digest('hex').slice(0, 8)}`;
};

/** What a model is told about a page that was split: how large it is, where its pieces are, what to do next. */
export const describeStashed = ({ indexKey, chunks }: StashedPage, chars: number): string => {
  const rows = chunks
    .slice(0, maxRows)
    .map(({ heading, key }, index) => `| ${index} | ${heading.replaceAll('|', '\\|')} | \`${key}\` |`);
  const more = chunks.length > maxRows ? [`\n${chunks.length - maxRows} more chunk(s): see the outline.`] : [];
  return [
    `The page is long (${chars} chars) and has been split into ${chunks.length} chunk(s) in working memory. Its outline is at key \`${indexKey}\`.`,
    'Read the relevant chunks with get_from_working_memory(key) BEFORE you answer; nothing of the text is shown here.',
    '',
    '| # | Heading | Key |',
    '|---|---|---|',
    ...rows,
    ...more,
  ].join('\n');
};

const maxRows = 100;
