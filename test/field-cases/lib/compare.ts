import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../../../packages/gantry/src/kernel/json.ts';
import { asText, listOf, textsOf } from './read-cases.ts';

/** A value as one short line. */
export const shown = (value: unknown): string => {
  const text = typeof value === 'string' ? JSON.stringify(value) : (JSON.stringify(value) ?? asText(value));
  return text.length > 300 ? `${text.slice(0, 300)}… (${text.length} characters)` : text;
};

/** True when both are the same JSON; `{ oneOf: [...] }` takes any of its values. */
export const isSame = (actual: unknown, expected: unknown): boolean =>
  isObject(expected) && Array.isArray(expected['oneOf']) && Object.keys(expected).length === 1
    ? (expected['oneOf'] as unknown[]).some((one) => isSame(actual, one))
    : isDeepStrictEqual(asJson(actual), asJson(expected));

const asJson = (value: unknown): unknown =>
  value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as unknown);

/** Says that a value is not the expected one, or nothing. */
export const differences = (subject: string, actual: unknown, expected: unknown): string[] =>
  isSame(actual, expected) ? [] : [`${subject}: expected ${shown(expected)}, came ${shown(actual)}`];

/** Says that a condition does not hold, with what came. */
export const unless = (holds: boolean, subject: string, came: unknown): string[] =>
  holds ? [] : [`${subject}, came ${shown(came)}`];

/** The words that a text lacks; letter case does not matter. */
export const unmentioned = (subject: string, text: string, words: unknown): string[] => {
  const lower = text.toLowerCase();
  return textsOf(words)
    .filter((word) => !lower.includes(word.toLowerCase()))
    .map((word) => `${subject}: expected a mention of ${shown(word)}, came ${shown(text)}`);
};

/** Judges what a text contains; letter case matters. */
export const wrongContents = (
  subject: string,
  text: string,
  { contains, notContains }: { contains?: unknown; notContains?: unknown },
): string[] => [
  ...textsOf(contains)
    .filter((part) => !text.includes(part))
    .map((part) => `${subject}: expected ${shown(part)} in it, came ${shown(text)}`),
  ...textsOf(notContains)
    .filter((part) => text.includes(part))
    .map((part) => `${subject}: expected no ${shown(part)} in it, came ${shown(text)}`),
];

/** Judges a number by `{ min, max }` or by the number itself. */
export const outOfRange = (subject: string, actual: number, expected: unknown): string[] => {
  if (!isObject(expected)) return differences(subject, actual, expected);
  const { min = -Infinity, max = Infinity } = expected as { min?: number; max?: number };
  return unless(actual >= min && actual <= max, `${subject}: expected ${shown(expected)}`, actual);
};

/** One expectation for each of `count` rows: a list is taken one by one, anything else holds for all. */
export const expectationPerRow = (expected: unknown, count: number): readonly unknown[] =>
  Array.isArray(expected) && expected.length === count
    ? listOf(expected)
    : Array.from({ length: count }, () => expected);
