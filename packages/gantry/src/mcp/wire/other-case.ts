/**
 * Makes what finds a member of an object whose name is that of one of the protocol but for its case. JSON has none of the two for the
 * other, yet some readers do (Go's `encoding/json`), with the folding of Unicode.
 */
export const otherCaseOf = (names: readonly string[]): ((value: object) => string | undefined) => {
  const exact = new Set(names);
  const folded = new Set(names.map(fold));
  return (value) => Object.keys(value).find((key) => !exact.has(key) && folded.has(fold(key)));
};

/** Makes what gives the name of the protocol that a text is but for its case; undefined for exactly that name, and for any other text. */
export const meantBy = (names: readonly string[]): ((text: string) => string | undefined) => {
  const byFolded = new Map(names.map((name) => [fold(name), name]));
  return (text) => {
    const meant = byFolded.get(fold(text));
    return meant === text ? undefined : meant;
  };
};

// The long s has no lower case of its own, the sign of Kelvin no upper one.
const fold = (name: string): string => name.toUpperCase().toLowerCase();
