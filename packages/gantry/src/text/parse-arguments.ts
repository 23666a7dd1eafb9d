import { isObject, type JsonObject, parseJson } from '../kernel/json.ts';
import { cutText } from './cut.ts';
import { flattenText } from './flatten.ts';

/** The arguments of a call as an object, or the reason, written for the model that has to send them again. */
export type ParsedArguments =
  | { readonly ok: true; readonly value: JsonObject }
  | { readonly ok: false; readonly reason: string };

/** Deeper values are refused, because what follows (validation, canonical form, encoding) works recursively. */
const maxDepth = 200;
/** A text inside a text inside a text is the most that double encoding has been seen to give. */
const maxEncodings = 3;

/**
 * Reads the arguments of a call as models and SDKs write them: JSON text, an object, JSON text in a JSON text, in a fenced code block, or
 * nothing at all, which means no arguments. Text that breaks off is refused, never completed. Keys named `__proto__` are left out.
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
  const safe = withoutProto(value, maxDepth);
  return safe === tooDeep
    ? { ok: false, reason: refusal(asText(raw), `they nest more than ${maxDepth} levels`) }
    : { ok: true, value: safe as JsonObject };
};

const withoutFence = (text: string): string =>
  /^```(?:json)?[ \t]*\r?\n([\s\S]*)\n?```$/i.exec(text)?.[1]?.trim() ?? text;

const brokenJson = (problem: string): string => {
  const cutOff = /end of JSON|unterminated/i.test(problem) ? '; the text breaks off, so it may have been cut' : '';
  return `they are not valid JSON (${flattenText(problem, { maxChars: 160 })}${cutOff})`;
};

const kindOf = (value: unknown): string => (Array.isArray(value) ? 'a list' : `a ${typeof value}`);

const asText = (raw: unknown): string => (typeof raw === 'string' ? raw : (JSON.stringify(raw) ?? String(raw)));

const refusal = (received: string, problem: string): string => {
  const shown = cutText(received, 120);
  const more = shown.length < received.length ? ` … (${received.length} characters)` : '';
  return `The arguments must be one JSON object, but ${problem}. Received: ${shown}${more}\nSend an object such as {"key": "value"}, or {} for no arguments.`;
};

const tooDeep = Symbol('too deep');

/** The value without `__proto__` keys (itself when it has none), or {@link tooDeep}. */
const withoutProto = (value: unknown, levelsLeft: number): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  if (levelsLeft === 0) return tooDeep;
  if (Array.isArray(value)) {
    let copy: unknown[] | undefined;
    for (const [index, item] of value.entries()) {
      const safe = withoutProto(item, levelsLeft - 1);
      if (safe === tooDeep) return tooDeep;
      if (safe !== item) (copy ??= [...(value as unknown[])])[index] = safe;
    }
    return copy ?? value;
  }
  let changes: Map<string, unknown> | undefined;
  for (const [key, member] of Object.entries(value)) {
    const safe = withoutProto(member, levelsLeft - 1);
    if (safe === tooDeep) return tooDeep;
    if (safe !== member || key === '__proto__') (changes ??= new Map()).set(key, safe);
  }
  if (!changes) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => key !== '__proto__')
      .map(([key, member]) => [key, changes.has(key) ? changes.get(key) : member]),
  );
};
