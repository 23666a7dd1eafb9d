import { isObject } from './json.ts';

/** What a local reference (`#`, `#/$defs/point`; RFC 6901 in a URI fragment) points at, or `undefined` when there is nothing. */
export const atPointer = (root: unknown, reference: string): unknown => {
  if (reference === '#') return root;
  if (!reference.startsWith('#/')) return undefined;
  let value = root;
  for (const token of reference.slice(2).split('/')) {
    const key = unescapeToken(token);
    if (key === undefined) return undefined;
    if (Array.isArray(value)) value = value[Number(key)] as unknown;
    else if (isObject(value) && Object.hasOwn(value, key)) value = value[key];
    else return undefined;
  }
  return value;
};

const unescapeToken = (token: string): string | undefined => {
  if (/%(?![0-9a-f]{2})/i.test(token)) return undefined;
  return decodeBytes(token).replaceAll('~1', '/').replaceAll('~0', '~');
};

const decodeBytes = (token: string): string =>
  token.includes('%')
    ? token.replaceAll(/(?:%[0-9a-f]{2})+/gi, (bytes) => Buffer.from(bytes.replaceAll('%', ''), 'hex').toString())
    : token;
