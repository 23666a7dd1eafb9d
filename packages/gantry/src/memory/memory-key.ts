/** The namespace that everybody may write to. */
export const sharedNamespace = 'shared';

/**
 * One spelling for keys: no white space around segments, no empty segments, no line breaks. Case stays; compare by
 * {@link foldKey}. Empty when nothing is left.
 */
export const normalizeKey = (key: string): string =>
  key
    .split('/')
    .map((segment) => segment.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim())
    .filter((segment) => segment !== '')
    .join('/');

/** What two spellings of the same key have in common. */
export const foldKey = (key: string): string => normalizeKey(key).toLowerCase();

/** Whose key it is: the first two segments (`session/{id}`), or `shared` for everything below it. Folded. */
export const namespaceOf = (key: string): string => {
  const segments = foldKey(key).split('/');
  return segments[0] === sharedNamespace ? sharedNamespace : segments.slice(0, 2).join('/');
};

/** True when the key lies below that path; a path takes in whole segments only. */
export const isBelow = (key: string, path: string): boolean => foldKey(key).startsWith(`${foldKey(path)}/`);
