/**
 * Why a body is not read, by what its headers say of it; undefined for JSON in UTF-8 that is not encoded any further. Everything is judged
 * as UTF-8 here, and whoever reads it otherwise would read another message.
 */
export const mediaRefusal = (headers: Headers): string | undefined => {
  const type = headers.get('content-type') ?? '';
  // What nearly everybody sends.
  if (type !== 'application/json') {
    if (!/^\s*application\/json\s*(?:;|$)/i.test(type)) return 'Content-Type must be application/json.';
    if (charsetsIn(type).some((charset) => !utf8.has(charset)))
      return 'Send JSON in UTF-8: Content-Type must be application/json, with no charset or with charset=utf-8.';
  }
  const encoding = headers.get('content-encoding');
  if (encoding !== null && encoding.trim().toLowerCase() !== 'identity')
    return 'Send the body as it is, without Content-Encoding.';
  return undefined;
};

const utf8: ReadonlySet<string> = new Set(['utf-8', 'utf8']);

/** Found wherever they stand, so that no way of quoting parameters hides one. */
const charsetsIn = (type: string): readonly string[] =>
  type
    .split(/charset/i)
    .slice(1)
    .map((rest) => /^\*?\s*=\s*["']?([^"';,\s]*)/.exec(rest)?.[1]?.toLowerCase() ?? '');
