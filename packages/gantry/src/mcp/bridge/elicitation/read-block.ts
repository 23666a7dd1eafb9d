import type { Json } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';
import { nearest } from '../../../kernel/nearest.ts';

/** Reads the settings of a block one by one. Names in any case; `null` counts as absent; what is wrong is told to `warn`. */
export interface BlockReader {
  /** One of a list, in any case. */
  word<W extends string>(key: string, words: readonly W[], fallback: { readonly absent: W; readonly wrong: W }): W;
  /** A number, or the text of one: environment variables are texts. */
  number(
    key: string,
    fallback: { readonly absent: number; readonly wrong: number; readonly isPositive?: boolean | undefined },
  ): number;
  /** A name; `''` when it is none, which no registry holds. */
  text(key: string): string | undefined;
  /** A list of names; `undefined` when it is none. */
  names(key: string): readonly string[] | undefined;
  /** Values by name; empty when they are none. */
  record(key: string): Readonly<Record<string, Json>>;
  /** Tells of every setting that nobody has read, with the nearest that there is. */
  warnOfOthers(): void;
}

/** Makes the reader of a block. */
export const createBlockReader = (
  block: Readonly<Record<string, unknown>>,
  warn: (problem: string) => void,
): BlockReader => {
  const known: string[] = [];
  const valueOf = (key: string): unknown => {
    known.push(key);
    const found = Object.keys(block).find((name) => name.toLowerCase() === key.toLowerCase());
    return found === undefined ? undefined : (block[found] ?? undefined);
  };
  return {
    word: (key, words, { absent, wrong }) => {
      const value = valueOf(key);
      if (value === undefined) return absent;
      const word = typeof value === 'string' ? value.trim().toLowerCase() : undefined;
      const match = words.find((candidate) => candidate === word);
      if (match === undefined) warn(`"${key}" must be ${listed(words)}; it acts as "${wrong}".`);
      return match ?? wrong;
    },
    number: (key, { absent, wrong, isPositive = false }) => {
      const value = valueOf(key);
      if (value === undefined) return absent;
      const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
      if (typeof number === 'number' && Number.isFinite(number) && (!isPositive || number > 0)) return number;
      warn(`"${key}" must be a ${isPositive ? 'positive ' : ''}number; ${wrong} is taken.`);
      return wrong;
    },
    text: (key) => {
      const value = valueOf(key);
      if (value === undefined) return undefined;
      if (typeof value === 'string') return value.trim() === '' ? undefined : value.trim();
      warn(`"${key}" must be the name of a responder; only "defaults" answer.`);
      return '';
    },
    names: (key) => {
      const value = valueOf(key) ?? [];
      if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
      warn(`"${key}" must be a list of field names; all questions are declined.`);
      return undefined;
    },
    record: (key) => {
      const value = valueOf(key) ?? {};
      if (isObject(value)) return value as Readonly<Record<string, Json>>;
      warn(`"${key}" must be an object of values by field name; there are none now.`);
      return {};
    },
    warnOfOthers: () => {
      for (const name of Object.keys(block)) {
        if (known.some((key) => key.toLowerCase() === name.toLowerCase())) continue;
        const [near] = nearest(name, known);
        warn(`"${name}" is no setting and has no effect${near === undefined ? '.' : `; did you mean "${near}"?`}`);
      }
    },
  };
};

const listed = (words: readonly string[]): string => words.map((word) => `"${word}"`).join(', ');
