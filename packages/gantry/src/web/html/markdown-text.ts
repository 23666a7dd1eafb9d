/** Text as HTML shows it: runs of white space are one space, characters without width are gone. */
export const collapse = (text: string): string => text.replaceAll(zeroWidth, '').replaceAll(whiteSpace, ' ');

const zeroWidth = /[\u00ad\u200b\u2060\ufeff]/g;
// A single space is what it becomes, so it is no match; most of a text's white space is that.
const whiteSpace = /[ \t\n\r\f\u00a0]{2,}|[\t\n\r\f\u00a0]/g;

/** Text that can stand in a paragraph without becoming a tag; everything else stays as the page has it. */
export const escapeText = (text: string): string =>
  text.includes('<') ? text.replaceAll(/<(?=[A-Za-z/!?])/g, '\\<') : text;

/** Keeps a paragraph a paragraph where its first characters would make it a heading, a list, a quote or a fence. */
export const escapeLineStarts = (paragraph: string): string =>
  paragraph.includes('\n') ? paragraph.split('\n').map(escapeLineStart).join('\n') : escapeLineStart(paragraph);

const escapeLineStart = (line: string): string => (blockStart.test(line) ? line.replace(/^(\d{0,9})/, '$1\\') : line);

const blockStart = /^(?:#{1,6}(?:\s|$)|>|[-+*](?:\s|$)|\d{1,9}[.)](?:\s|$)|`{3}|~{3}|(?:-\s*){3,}$|=+$)/;

/** The text as an inline code span, with as many backticks as it takes. */
export const codeSpan = (text: string): string => {
  if (text.trim() === '') return text === '' ? '' : ' ';
  const ticks = '`'.repeat(longestRun(text, '`') + 1);
  const pad = text.startsWith('`') || text.endsWith('`') ? ' ' : '';
  return `${ticks}${pad}${text}${pad}${ticks}`;
};

/** The text as a fenced code block, byte for byte, in a fence that it cannot end. */
export const codeFence = (text: string, language: string): string => {
  const fence = '`'.repeat(Math.max(3, longestRun(text, '`') + 1));
  return `${fence}${language}\n${text}\n${fence}`;
};

const longestRun = (text: string, mark: string): number => {
  let longest = 0;
  for (let at = text.indexOf(mark); at !== -1; at = text.indexOf(mark, at)) {
    const start = at;
    while (text[at] === mark) at += 1;
    longest = Math.max(longest, at - start);
  }
  return longest;
};

/** Puts a prefix before every line but the first, which gets its own; empty lines stay empty where the prefix is only space. */
export const indent = (text: string, first: string, rest: string): string => {
  const isSpace = rest.trim() === '';
  return text
    .split('\n')
    .map((line, index) => (index === 0 ? first + line : line === '' && isSpace ? '' : rest + line))
    .join('\n');
};

/** Puts emphasis marks around a text, white space outside them. */
export const mark = (text: string, marks: string): string => {
  const inner = text.trim();
  if (inner === '' || inner.includes('\n\n')) return text;
  const start = text.length - text.trimStart().length;
  return `${text.slice(0, start)}${marks}${inner}${marks}${text.slice(start + inner.length)}`;
};

/** Trims spaces around line breaks and at both ends of a paragraph. */
export const tidyParagraph = (text: string): string =>
  text.includes('\n')
    ? text
        .split('\n')
        .map((line) => line.trim())
        .join('\n')
        .trim()
    : text.trim();
