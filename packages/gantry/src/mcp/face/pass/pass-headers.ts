/** The header that names a session of 2025. */
export const sessionHeader = 'mcp-session-id';
const passed = ['accept', 'mcp-protocol-version', 'mcp-method', 'mcp-name', 'last-event-id'];
const parameterHeader = /^mcp-param-/;
// Revisions are dates, which compare as text; those before it have no headers of parameters, and to look for them costs more than the rest.
const firstWithParameters = '2026';
const returned = ['content-type', 'cache-control', 'mcp-protocol-version', 'retry-after', 'allow'];

/**
 * What goes on to the server of the headers of a request; `session` is the server's own. What the body is, Gantry says itself: it was judged
 * as JSON in UTF-8, and a server that were told otherwise would read something else.
 */
export const forwardedHeaders = (
  { method, headers: given }: Pick<Request, 'method' | 'headers'>,
  session: string | undefined,
): Record<string, string> => {
  const headers: Record<string, string> = {};
  for (const name of passed) {
    const value = given.get(name);
    if (value !== null) headers[name] = value;
  }
  const revision = headers['mcp-protocol-version'] ?? firstWithParameters;
  if (revision >= firstWithParameters)
    for (const [name, value] of given) if (parameterHeader.test(name)) headers[name] = value;
  if (method === 'POST') headers['content-type'] = 'application/json';
  if (session !== undefined) headers[sessionHeader] = session;
  return headers;
};

/** What goes back to the client of the headers of an answer. */
export const returnedHeaders = (given: Headers): Record<string, string> => {
  const headers: Record<string, string> = {};
  for (const name of returned) {
    const value = given.get(name);
    if (value !== null) headers[name] = name === 'content-type' ? inUtf8(value) : value;
  }
  return headers;
};

/** Texts are read and written as UTF-8 here; a client that believed in another charset would read something else. */
const inUtf8 = (contentType: string): string =>
  contentType.includes(';') && /charset/i.test(contentType) && !/^[^;]*;\s*charset="?utf-8"?\s*$/i.test(contentType)
    ? contentType.replace(/;.*$/s, '')
    : contentType;
