/** Whether a JSON text has more levels of lists and objects; one pass, and none for a text that is too short for them. */
export const nestsDeeper = (text: string, levels: number): boolean => {
  if (text.length <= 2 * levels) return false;
  let depth = 0;
  let isInString = false;
  for (let at = 0; at < text.length; at += 1) {
    const mark = text[at];
    if (isInString) {
      if (mark === '\\') at += 1;
      else if (mark === '"') isInString = false;
    } else if (mark === '"') isInString = true;
    else if (mark === '{' || mark === '[') {
      depth += 1;
      if (depth > levels) return true;
    } else if (mark === '}' || mark === ']') depth -= 1;
  }
  return false;
};
