import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isObject } from '../../../packages/gantry/src/kernel/json.ts';

/** One case, its `$repeat` and `$range` written out. */
export interface FieldCase {
  readonly id: string;
  readonly kind: string;
  /** True when the outcome is recommended and not demanded: it never fails a run. */
  readonly isRecommended: boolean;
  readonly input: Readonly<Record<string, unknown>>;
  readonly expect: Readonly<Record<string, unknown>>;
}

/**
 * The cases of a folder in the order of its files' names.
 * @throws {Error} naming the file when one is no file of cases or a case has no id or kind.
 */
export const readCases = async (folder: string): Promise<readonly FieldCase[]> => {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.json')).toSorted();
  const read = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
  return read.flatMap((text, index) => {
    const file = files[index] as string;
    const content: unknown = JSON.parse(text);
    if (!isObject(content) || !Array.isArray(content['cases'])) throw new Error(`${file}: a list "cases" is needed.`);
    return (content['cases'] as unknown[]).map((item) => toCase(item, file));
  });
};

const toCase = (item: unknown, file: string): FieldCase => {
  const { id, kind, input, expect, level, grade, severity } = isObject(item) ? item : {};
  if (typeof id !== 'string' || typeof kind !== 'string')
    throw new Error(`${file}: a case needs an id and a kind; ${asText(id)} lacks one.`);
  return {
    id,
    kind,
    isRecommended: [level, grade, severity].includes('should'),
    input: membersOf(input),
    expect: membersOf(expect),
  };
};

/** What is no object stands under a key that no kind reads, so that the case is not covered. */
const membersOf = (value: unknown): Readonly<Record<string, unknown>> => {
  const written = writtenOut(value);
  return isObject(written) ? written : { value: written };
};

const writtenOut = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(writtenOut);
  if (!isObject(value)) return value;
  const { $repeat: repeat, $range: range } = value;
  if (Array.isArray(repeat)) return textOf(repeat[0]).repeat(Number(repeat[1]));
  if (Array.isArray(range)) {
    const [from, to, prefix] = range as [number, number, string];
    return Array.from({ length: to - from }, (_, index) => `${prefix}${from + index}`);
  }
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, writtenOut(member)]));
};

/** A text, or the parts of one joined in order. */
export const textOf = (value: unknown): string =>
  Array.isArray(value) ? (value as unknown[]).map(textOf).join('') : asText(writtenOut(value));

/** A value as text: itself when it is one, else its JSON. */
export const asText = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined');

/** A list, or one value as the only item of a list. */
export const listOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? (value as unknown[]) : value === undefined ? [] : [value];

/** The texts of a list, a single text, or nothing. */
export const textsOf = (value: unknown): readonly string[] => listOf(value).flat().map(asText);

/** The rows of a case; a case without rows is its own only row. */
export const rowsOf = (fieldCase: FieldCase): readonly unknown[] =>
  Array.isArray(fieldCase.input['rows']) ? (fieldCase.input['rows'] as unknown[]) : [fieldCase.input];
