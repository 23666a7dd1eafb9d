/**
 * Whether a text matches a pattern in which `*` stands for any characters; case does not matter. In time linear in the text for each part of the
 * pattern, since patterns come from models.
 */
export const matchesGlob = (pattern: string, text: string): boolean => {
  const [first = '', ...parts] = pattern.toLowerCase().split('*');
  const folded = text.toLowerCase();
  const last = parts.pop();
  if (last === undefined) return folded === first;
  if (!folded.startsWith(first)) return false;
  let at = first.length;
  for (const part of parts) {
    const found = folded.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return folded.length - last.length >= at && folded.endsWith(last);
};
