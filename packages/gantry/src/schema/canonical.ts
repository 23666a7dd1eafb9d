/** A copy with the keys sorted at every depth and lists in their order: equal JSON gives equal bytes when encoded. */
export const toCanonical = <T>(value: T): T => sorted(value) as T;

const sorted = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, sorted((value as Record<string, unknown>)[key])]));
};

/** Canonical JSON text: sorted keys, no white space. What JSON cannot hold at the top (`undefined`) counts as null. */
export const canonicalText = (value: unknown): string => JSON.stringify(sorted(value)) ?? 'null';
