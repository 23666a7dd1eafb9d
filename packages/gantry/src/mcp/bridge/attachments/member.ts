/** The first of the named members that is a text or a number, as text that is not blank; names in any case. */
export const textMember = (
  object: Readonly<Record<string, unknown>>,
  ...names: readonly string[]
): string | undefined => {
  for (const name of names) {
    const value = object[keyOf(object, name) ?? name];
    const text = typeof value === 'number' ? String(value) : value;
    if (typeof text === 'string' && text.trim() !== '') return text;
  }
  return undefined;
};

/** The key of that name, in whatever case it is written. */
export const keyOf = (object: Readonly<Record<string, unknown>>, name: string): string | undefined =>
  Object.hasOwn(object, name) ? name : Object.keys(object).find((key) => key.toLowerCase() === name.toLowerCase());
