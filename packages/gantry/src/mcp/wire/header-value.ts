const prefix = '=?base64?';
const suffix = '?=';
// RFC 9110, section 5.5: visible ASCII, spaces and tabs.
const plain = /^[\t\x20-\x7e]+$/;

/**
 * A text as the value of a header: as it is where a header can hold it, else in Base64 (MCP 2026-07-28, "Value encoding", SEP-2243).
 */
export const encodedHeader = (text: string): string => {
  const looksEncoded = text.startsWith(prefix) && text.endsWith(suffix);
  if (plain.test(text) && text === text.trim() && !looksEncoded) return text;
  return `${prefix}${Buffer.from(text, 'utf8').toString('base64')}${suffix}`;
};
