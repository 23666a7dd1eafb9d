/** Every text in a value, names of members too. */
export const textsIn = (value: unknown): readonly string[] => {
  const texts: string[] = [];
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next === 'string') texts.push(next);
    else if (typeof next === 'object' && next !== null) {
      if (!Array.isArray(next)) texts.push(...Object.keys(next));
      for (const member of Object.values(next)) open.push(member);
    }
  }
  return texts;
};
