import type { PassTarget } from '../../wire/pass-port.ts';

/**
 * Whether policy may have a say in a text of a server: it asks a question, or lists tools or prompts that may be hidden, in any spelling that
 * JSON allows. Looking for a word is much cheaper than reading every message, and nearly none has it.
 */
export const mayConcern = (
  text: string,
  { hasFilters, hidesPrompts }: Pick<PassTarget, 'hasFilters' | 'hidesPrompts'>,
): boolean =>
  text.includes('elicitation') ||
  // No JSON has it, and a text in UTF-16 is full of it.
  text.includes('\0') ||
  (text.includes('\\') && spelledOut.test(text)) ||
  (hasFilters && toolList.test(text)) ||
  (hidesPrompts && promptList.test(text));

// Escapes for letters, and those that JSON does not have: a lenient reader may take them for anything. A backslash that is escaped itself
// begins none.
const spelledOut = /(?<!\\)(?:\\\\)*\\(?:[^"\\/bfnrtu]|u(?:00(?:2[fF]|[4-7])|017[fF]|212[aA]|[^0-9a-fA-F]))/;

// In any case, as some readers have it.
const toolList = /"tools"/iu;
const promptList = /"prompts"/iu;
