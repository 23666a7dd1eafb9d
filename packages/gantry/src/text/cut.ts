/** The last place at or before `index` where `text` may be cut: not inside a surrogate pair, not between CR and LF. */
export const cutIndex = (text: string, index: number): number => {
  if (index <= 0) return 0;
  if (index >= text.length) return text.length;
  const before = text.charCodeAt(index - 1);
  const after = text.charCodeAt(index);
  const splitsPair = (before & 0xfc00) === 0xd800 && (after & 0xfc00) === 0xdc00;
  const splitsLineEnd = before === 0x0d && after === 0x0a;
  return splitsPair || splitsLineEnd ? index - 1 : index;
};

/** The first `maxChars` UTF-16 units of a text, less one where that would halve a character. */
export const cutText = (text: string, maxChars: number): string =>
  text.length <= maxChars ? text : text.slice(0, cutIndex(text, maxChars));
