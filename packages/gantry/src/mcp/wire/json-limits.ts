import { GantryError } from '../../kernel/errors.ts';

/** The most levels of lists and objects in a message. Arguments and results end sooner; what reads a message whole is recursive. */
export const maxMessageDepth = 1_000;

/** Why a JSON text is not read, by its brackets alone, so that it costs next to nothing; undefined when it is. */
export const depthProblem = (text: string): string | undefined => {
  // Every level takes two characters.
  if (text.length <= 2 * maxMessageDepth) return undefined;
  let depth = 0;
  let isInText = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.codePointAt(at);
    if (isInText) {
      if (code === backslash) at += 1;
      else if (code === quote) isInText = false;
    } else if (code === quote) isInText = true;
    else if (code === openList || code === openObject) {
      depth += 1;
      if (depth > maxMessageDepth)
        return `The message nests deeper than ${maxMessageDepth} levels of lists and objects; send it flatter.`;
    } else if (code === closeList || code === closeObject) depth -= 1;
  }
  return undefined;
};

/** Whether a value that was read from JSON nests deeper than that; for what comes without its text. */
export const nestsTooDeep = (value: unknown): boolean => {
  const open: [object, number][] = isNest(value) ? [[value, 1]] : [];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [one, depth] = next;
    if (depth > maxMessageDepth) return true;
    for (const member of Object.values(one)) if (isNest(member)) open.push([member, depth + 1]);
  }
  return false;
};

const isNest = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** The error of an answer or notice of a server that nests too deep: what writes it again is recursive. */
export const tooDeep = (server: string): GantryError =>
  new GantryError(
    'execution_failed',
    `Server "${server}" answered, but its message nests deeper than ${maxMessageDepth} levels of lists and objects; whether the request was carried out is unknown.`,
    { details: { name: server }, retry: 'never' },
  );

/** Which number of a JSON text its value cannot hold, since it is read as endless; undefined when there is none. */
export const numberProblem = (text: string, value: unknown): string | undefined => {
  if (!mayBeEndless.test(text)) return undefined;
  const open: [string, unknown][] = [['', value]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [name, one] = next;
    if (one === Infinity || one === -Infinity)
      return `The number${name === '' ? '' : ` at "${name.slice(0, 80)}"`} is too large; the most is about 1.8e308. Send it as a text.`;
    if (typeof one !== 'object' || one === null) continue;
    const isList = Array.isArray(one);
    for (const [key, member] of Object.entries(one)) open.push([isList ? name : key, member]);
  }
  return undefined;
};

// A number that is too large has an exponent or very many digits.
const mayBeEndless = /\d[eE]|\d{309}/;

const [quote, backslash, openList, closeList, openObject, closeObject] = [0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d];
