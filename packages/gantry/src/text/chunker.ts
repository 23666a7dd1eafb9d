import { cutIndex } from './cut.ts';
import { type Section, toSections } from './sections.ts';

/** A heading and its level; level 0 is text without a heading. */
export interface Heading {
  readonly heading: string;
  readonly level: 0 | 1 | 2 | 3;
}

/** One piece of a long text. */
export interface Chunk extends Heading {
  /** At most `maxChars` characters, without the heading line. */
  readonly body: string;
  /** Headings right before this chunk whose sections hold nothing; they are no chunks, but parents in the outline. */
  readonly emptyBefore: readonly Heading[];
}

/**
 * Splits a text at its H1 to H3 headings, sections over `maxChars` (UTF-16 units, at least 2) at blank lines, and what is
 * still too long at line ends or, at worst, between two characters. Empty sections give no chunk, except the last.
 *
 * The bodies of a text without headings concatenate to that text; with headings, only the heading lines and white space
 * at the borders of sections are left out. Takes time linear in the length.
 */
export const chunkText = (text: string, options: { maxChars: number }): Chunk[] => {
  const maxChars = Math.max(2, options.maxChars);
  const sections = toSections(text);
  const chunks: Chunk[] = [];
  let emptyBefore: Heading[] = [];
  for (const [index, section] of sections.entries()) {
    const isLast = index === sections.length - 1;
    if (section.body === '' && !isLast) {
      if (section.level > 0) emptyBefore.push({ heading: section.heading, level: section.level });
      continue;
    }
    pushParts(chunks, section, maxChars, emptyBefore);
    emptyBefore = [];
  }
  return chunks;
};

const pushParts = (chunks: Chunk[], section: Section, maxChars: number, emptyBefore: readonly Heading[]): void => {
  const { heading, level, body } = section;
  let start = 0;
  let part = 0;
  do {
    const end = body.length - start <= maxChars ? body.length : start + partLength(body, start, maxChars);
    chunks.push({
      heading: part === 0 || heading === '' ? heading : `${heading} (continued ${part})`,
      level,
      body: body.slice(start, end),
      emptyBefore: part === 0 ? emptyBefore : [],
    });
    start = end;
    part += 1;
  } while (start < body.length);
};

/** How much of `body` from `start` goes into one part: up to the last blank line, a late line end, or all that fits. */
const partLength = (body: string, start: number, maxChars: number): number => {
  // A slice keeps the backward searches inside the window, so that one endless line costs no more than many short ones.
  const window = body.slice(start, start + maxChars);
  const afterBlankLine = lastBlankLineEnd(window);
  if (afterBlankLine > 0) return afterBlankLine;
  const afterLine = window.lastIndexOf('\n') + 1;
  if (afterLine >= maxChars * 0.75) return afterLine;
  return cutIndex(body, start + maxChars) - start;
};

/** Where the last run of blank lines in `window` ends, if text precedes it; else 0. */
const lastBlankLineEnd = (window: string): number => {
  const textStart = window.length - window.trimStart().length;
  for (let end = window.lastIndexOf('\n'); end > textStart;) {
    const before = window.lastIndexOf('\n', end - 1);
    if (before > textStart && window.slice(before + 1, end).trim() === '') return end + 1;
    end = before;
  }
  return 0;
};
