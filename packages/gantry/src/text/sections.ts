/** A heading with the text below it, up to the next heading. */
export interface Section {
  readonly heading: string;
  readonly level: 0 | 1 | 2 | 3;
  readonly body: string;
}

/** Beyond this many headings the deeper levels stay in the text, or every line of a commented log would be a section. */
const maxSections = 200;
/** A longer line that starts with `# ` is text; as a heading it would be lost from the bodies. */
const maxHeadingChars = 200;

interface HeadingLine {
  readonly level: 1 | 2 | 3;
  readonly start: number;
  readonly end: number;
}

/**
 * The sections of a text: split at lines that start with `# `, `## ` or `### ` outside fenced code. The first one holds what precedes
 * the first heading. Bodies are trimmed, unless the text has no heading at all: then its one section is the text itself.
 */
export const toSections = (text: string): Section[] => {
  const lines = splittingHeadings(headingLines(text));
  const [first] = lines;
  if (!first) return [{ heading: '', level: 0, body: text }];
  const sections: Section[] = [{ heading: '', level: 0, body: text.slice(0, first.start).trim() }];
  for (const [index, line] of lines.entries()) {
    sections.push({
      heading: text.slice(line.start + line.level + 1, line.end).trim(),
      level: line.level,
      body: text.slice(line.end, lines[index + 1]?.start).trim(),
    });
  }
  return sections;
};

const splittingHeadings = (lines: HeadingLine[]): HeadingLine[] => {
  let kept = lines;
  for (let level = 2; kept.length > maxSections && level >= 0; level -= 1)
    kept = kept.filter((line) => line.level <= level);
  return kept;
};

const headingLines = (text: string): HeadingLine[] => {
  const found: HeadingLine[] = [];
  let fence: string | undefined;
  for (let start = 0; start < text.length;) {
    const newline = text.indexOf('\n', start);
    const end = newline === -1 ? text.length : newline;
    const isHeading = fence === undefined && text[start] === '#' && end - start <= maxHeadingChars;
    const marks = isHeading ? /^#{1,3}(?= )/.exec(text.slice(start, start + 4)) : null;
    if (marks) found.push({ level: marks[0].length as 1 | 2 | 3, start, end });
    else fence = fenceAfter(text.slice(start, end), fence);
    start = end + 1;
  }
  return found;
};

/** The fence that is open after `line` (CommonMark 4.5: closed by at least as many of the same mark, alone on a line). */
const fenceAfter = (line: string, open: string | undefined): string | undefined => {
  const marks = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
  if (marks === undefined) return open;
  const rest = line.slice(line.indexOf(marks) + marks.length);
  if (open === undefined) return marks.startsWith('`') && rest.includes('`') ? undefined : marks;
  return marks.startsWith(open) && rest.trim() === '' ? undefined : open;
};
