import { cutText } from './cut.ts';

/** The marker that says how many characters were left out, in plain digits. */
export const omissionMarker = (omittedChars: number): string => `[result truncated — ${omittedChars} chars omitted]`;

/**
 * Keeps the first `maxChars` characters (UTF-16 units, never half a surrogate pair) and adds a line that says how many are missing.
 * A text that fits comes back as it is. The marker is not counted in `maxChars`.
 */
export const truncateText = (
  text: string,
  maxChars: number,
  options: { marker?: ((omittedChars: number) => string) | undefined } = {},
): string => {
  if (text.length <= maxChars) return text;
  const kept = cutText(text, maxChars);
  const marker = (options.marker ?? omissionMarker)(text.length - kept.length);
  return kept === '' ? marker : `${kept}\n${marker}`;
};
