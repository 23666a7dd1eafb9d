/** Longest file name made here, in bytes of UTF-8: file systems stop at 255, and collision suffixes need room. */
const maxNameBytes = 200;

/**
 * A name that is safe as one path segment on any file system: separators, control characters and leading dots are gone, and
 * over-long names keep their extension. Whatever comes in, a name comes out.
 */
export const toFileName = (name: string, fallback = 'file'): string => {
  const clean = name
    .normalize('NFC')
    .replaceAll(/[\p{Cc}\p{Cf}\p{Cs}/\\:*?"<>|]/gu, '-')
    .replace(/^[.\s-]+/, '')
    .replace(/[.\s]+$/, '');
  return shortened(clean || fallback);
};

/** The name with `-2`, `-3`, … before its extension. */
export const withSuffix = (name: string, number: number): string => {
  const { stem, extension } = split(name);
  return `${stem}-${number}${extension}`;
};

const split = (name: string): { stem: string; extension: string } => {
  const dot = name.lastIndexOf('.');
  return dot > 0 && name.length - dot <= 16
    ? { stem: name.slice(0, dot), extension: name.slice(dot) }
    : { stem: name, extension: '' };
};

const shortened = (name: string): string => {
  const { stem, extension } = split(name);
  let kept = stem;
  while (Buffer.byteLength(kept + extension) > maxNameBytes) kept = [...kept].slice(0, -1).join('');
  return kept + extension;
};
