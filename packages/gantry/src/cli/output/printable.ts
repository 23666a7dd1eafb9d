/** One line for a table: server-written text must not move the cursor, break the line or hide. */
export const toCell = (text: string): string =>
  text
    .replaceAll(/[\s\p{Cc}\p{Z}]+/gu, ' ')
    .replaceAll(/\p{Cf}/gu, '')
    .trim();

/** Text as it may go to a terminal: lines and tabs stay, whatever would steer the terminal or turn the direction of reading goes. */
export const toTerminalText = (text: string): string =>
  text
    .replaceAll(/\r\n|[\u2028\u2029]/g, '\n')
    .replaceAll(/(?![\n\t])\p{Cc}|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '');

/** The same for text that has been styled: what marks our own styles stays, whoever wrote it; it changes how letters look and no more. */
export const toStyledText = (text: string): string =>
  text
    .split(ownStyles)
    .map((piece, index) => (index % 2 === 1 ? piece : toTerminalText(piece)))
    .join('');

// Those that `Printer.style` has: bold, dim, three colours, and their ends.
const ownStyles = new RegExp(`(${String.fromCodePoint(0x1b)}\\[(?:1|2|22|3[1-3]|39)m)`);

/** A value as JSON that a terminal shows and does not obey: JSON says the same of such characters in escapes. */
export const toPlainJson = (value: unknown): string =>
  JSON.stringify(value, null, 2).replaceAll(
    /[\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** How many columns of a terminal a text without control characters takes. */
export const widthOf = (text: string): number => {
  if (/^[ -~]*$/.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += combining.test(character) ? 0 : wide.test(character) ? 2 : 1;
  return width;
};

const combining = /^[\p{M}\p{Cf}]$/u;
const wide =
  /^[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Emoji_Presentation}\u3000-\u303f\uff01-\uff60]$/u;

/** The beginning of a text that fits `columns`; ends in `…` when something is left out. */
export const cutToWidth = (text: string, columns: number): string => {
  if (widthOf(text) <= columns) return text;
  let kept = '';
  let width = 0;
  for (const character of text) {
    width += widthOf(character);
    if (width > columns - 1) break;
    kept += character;
  }
  return `${kept.trimEnd()}…`;
};
