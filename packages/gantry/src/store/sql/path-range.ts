/**
 * The keys below a path as a half-open range of texts: `a/b` gives `a/b/` up to but not including `a/b0`, since `0` follows `/`
 * in ASCII. Undefined for the empty path, which takes in everything.
 */
export const toPathRange = (path: string): { self: string; from: string; before: string } | undefined => {
  const self = path.replace(/\/+$/, '');
  return self === '' ? undefined : { self, from: `${self}/`, before: `${self}0` };
};
