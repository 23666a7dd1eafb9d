import { maxJsonDepth } from '../kernel/json-problem.ts';
import { isObject, type JsonObject, parseJson } from '../kernel/json.ts';
import { cutText } from './cut.ts';
import { flattenText } from './flatten.ts';

/** The arguments of a call as an object, or the reason, written for the model that has to send them again. */
export type ParsedArguments =
  | { readonly ok: true; readonly value: JsonObject }
  | { readonly ok: false; readonly reason: string };

/** A text inside a text inside a text is the most that double encoding has been seen to give. */
const maxEncodings = 3;

/**
 * Reads the arguments of a call as models and SDKs write them: JSON text, an object, JSON text in a JSON text, in a fenced code block, or
 * nothing at all, which means no arguments. Text that breaks off is refused, never completed; keys named `__proto__`, which code further on
 * could take for the prototype, are refused.
 */
export const parseArguments = (raw: unknown): ParsedArguments => {
  let value = raw ?? {};
  for (let encodings = 0; typeof value === 'string' && encodings < maxEncodings; encodings += 1) {
    const text = withoutFence(value.trim());
    if (text === '') return { ok: true, value: {} };
    const parsed = parseJson(text);
    if (!parsed.ok) return { ok: false, reason: refusal(text, brokenJson(parsed.reason)) };
    value = parsed.value ?? {};
  }
  if (!isObject(value)) return { ok: false, reason: refusal(asText(raw), `they are ${kindOf(value)}`) };
  const problem = problemIn(value, maxJsonDepth);
  return problem === undefined
    ? { ok: true, value: value as JsonObject }
    : { ok: false, reason: refusal(asText(raw), problem) };
};

const withoutFence = (text: string): string =>
  /^```(?:json)?[ \t]*\r?\n([\s\S]*)\n?```$/i.exec(text)?.[1]?.trim() ?? text;

const brokenJson = (problem: string): string => {
  const cutOff = /end of JSON|unterminated/i.test(problem) ? '; the text breaks off, so it may have been cut' : '';
  return `they are not valid JSON (${flattenText(problem, { maxChars: 160 })}${cutOff})`;
};

const kindOf = (value: unknown): string => (Array.isArray(value) ? 'a list' : `a ${typeof value}`);

const asText = (raw: unknown): string => {
  if (typeof raw === 'string') return raw;
  try {
    return JSON.stringify(raw) ?? String(raw);
  } catch {
    // Nests without end, or holds what JSON cannot say: the problem beside it is what counts.
    return `${kindOf(raw)} that cannot be shown`;
  }
};

const refusal = (received: string, problem: string): string => {
  const shown = cutText(received, 120);
  const more = shown.length < received.length ? ` … (${received.length} characters)` : '';
  return `The arguments must be one JSON object, but ${problem}. Received: ${shown}${more}\nSend an object such as {"key": "value"}, or {} for no arguments.`;
};

const problemIn = (value: object, levelsLeft: number): string | undefined => {
  if (levelsLeft === 0) return `they nest more than ${maxJsonDepth} levels`;
  const list: readonly unknown[] | undefined = Array.isArray(value) ? value : undefined;
  if (list === undefined && Object.hasOwn(value, '__proto__'))
    return 'they hold the key "__proto__", which is not supported; leave it out';
  for (const member of list ?? Object.values(value)) {
    if (typeof member !== 'object' || member === null) continue;
    const problem = problemIn(member, levelsLeft - 1);
    if (problem !== undefined) return problem;
  }
  return undefined;
};
