import { cutText } from './cut.ts';

/**
 * Makes server-written text fit to stand inside one of our own sentences: one line, without control, bidirectional and
 * other invisible characters, without the marks that could end a quotation, open a tag or imitate a notice of ours.
 * Longer text is cut and ends in `…`.
 *
 * @param options `maxChars` defaults to 200.
 */
export const flattenText = (text: string, options: { maxChars?: number | undefined } = {}): string => {
  const maxChars = options.maxChars ?? 200;
  // White space shrinks while flattening; a margin is enough, and megabytes are not worth a look.
  const flat = cutText(text, maxChars * 4 + 1024)
    .replaceAll(invisible, '')
    .replaceAll(blank, ' ')
    .replaceAll(markup, (mark) => harmless[mark] ?? '')
    .trim()
    // A backslash at the end would escape the quote that we put behind it.
    .replace(/\\{1,512}$/, '');
  return flat.length <= maxChars ? flat : `${cutText(flat, maxChars - 1).trimEnd()}…`;
};

const invisible = /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Co}\p{Cs}]/gu;
// U+2800 is a letter to Unicode and a gap to the eye.
const blank = /[\s\p{Cc}\p{Z}\u2800]+/gu;
const markup = /["“”„`´<>[\]|]/g;
const harmless: Readonly<Record<string, string>> = {
  '"': "'",
  '“': "'",
  '”': "'",
  '„': "'",
  '`': "'",
  '´': "'",
  '<': '‹',
  '>': '›',
  '[': '(',
  ']': ')',
  '|': '/',
};
