import type { Chunk, Heading } from './chunker.ts';
import { flattenText } from './flatten.ts';

/** What a list of chunks calls this one: its heading, or `Part {n}` (from 0) for text without a heading. */
export const chunkTitle = (chunk: Chunk, index: number): string =>
  flattenText(chunk.heading, { maxChars: 120 }) || `Part ${index}`;

/**
 * The document outline of chunked text, in markdown: nested by heading level, each entry with the key that its chunk is
 * stored under. Headings whose sections held nothing stand as parents without a key.
 */
export const toOutline = (chunks: readonly Chunk[], keyOf: (index: number) => string): string => {
  const lines = ['## Document Outline', ''];
  const open: number[] = [];
  const push = ({ level }: Heading, text: string): void => {
    while (open.length > 0 && (open.at(-1) as number) >= level) open.pop();
    lines.push(`${'  '.repeat(open.length)}- ${text}`);
    if (level > 0) open.push(level);
  };
  for (const [index, chunk] of chunks.entries()) {
    for (const parent of chunk.emptyBefore) push(parent, `**${flattenText(parent.heading, { maxChars: 120 })}**`);
    push(chunk, `**${chunkTitle(chunk, index)}** → \`${keyOf(index)}\``);
  }
  return lines.join('\n');
};
