import type { ParseError } from 'jsonc-parser';
import { parse, printParseErrorCode } from 'jsonc-parser';
import { GantryError } from './errors.ts';

/**
 * Parses JSON with comments.
 * @throws {GantryError} `config_invalid` that names the file, the line, the column and what is wrong there.
 */
export const parseJsonc = (text: string, file: string): unknown => {
  const errors: ParseError[] = [];
  const value: unknown = parse(text.replace(/^\uFEFF/, ''), errors, {
    allowTrailingComma: true,
    disallowComments: false,
  });
  const [first] = errors;
  // An empty file holds nothing; that is not broken.
  if (!first || text.trim() === '') return value ?? {};
  const { line, column } = positionOf(text, first.offset);
  const problem = printParseErrorCode(first.error)
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase();
  throw new GantryError('config_invalid', `${file}:${line}:${column}: not valid JSON (${problem}); correct it there.`, {
    details: { file, line, column },
  });
};

/** Line and column (both from 1) of an offset in a text. */
const positionOf = (text: string, offset: number): { line: number; column: number } => {
  const before = text.slice(0, offset).split('\n');
  return { line: before.length, column: (before.at(-1) as string).length + 1 };
};
