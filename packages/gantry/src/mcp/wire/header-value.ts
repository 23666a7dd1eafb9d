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

/** The text in the value of a header; undefined where it claims to be Base64 and is not. */
export const decodedHeader = (value: string): string | undefined => {
  if (!value.startsWith(prefix) || !value.endsWith(suffix) || value.length < prefix.length + suffix.length)
    return value;
  const base64 = value.slice(prefix.length, -suffix.length);
  const bytes = Buffer.from(base64, 'base64');
  return bytes.toString('base64') === base64 ? bytes.toString('utf8') : undefined;
};
