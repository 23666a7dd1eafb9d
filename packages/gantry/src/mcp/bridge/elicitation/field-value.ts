import * as z from 'zod';
import type { FormField } from './form-field.ts';
import { shownName } from './form-field.ts';

/**
 * What is wrong with a value of a field, as the end of a sentence that begins with the field's name, or `undefined` when it fits.
 * Nothing is converted: `"5"` is no number. The value itself is never part of the text.
 */
export const valueProblem = (field: FormField, value: unknown): string | undefined => {
  switch (field.type) {
    case 'string':
      if (typeof value !== 'string') return 'must be a text';
      return lengthProblem(field, value) ?? formatProblem(field, value);
    case 'number':
    case 'integer':
      if (typeof value !== 'number' || !Number.isFinite(value)) return 'must be a number';
      if (field.type === 'integer' && !Number.isInteger(value)) return 'must be a whole number';
      return rangeProblem(value, field.minimum, field.maximum, (bound) => `must be ${bound}`);
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'must be true or false';
    case 'choice':
      return isOption(field, value) ? undefined : `must be one of ${offered(field)}, written exactly so`;
    case 'choices':
      if (!Array.isArray(value)) return `must be a list of ${offered(field)}`;
      if (!value.every((item) => isOption(field, item)))
        return `must hold nothing but ${offered(field)}, written exactly so`;
      return rangeProblem(value.length, field.minItems, field.maxItems, (bound) => `must hold ${bound} values`);
  }
};

const offered = ({ options = [] }: FormField): string => {
  const shown = options.slice(0, 20).map(({ value }) => `"${shownName(value)}"`);
  return `${shown.join(', ')}${options.length > shown.length ? ` and ${options.length - shown.length} more` : ''}`;
};

const isOption = ({ options }: FormField, value: unknown): boolean =>
  options?.some((option) => option.value === value) ?? false;

// JSON Schema counts characters, not UTF-16 units.
const lengthProblem = ({ minLength, maxLength }: FormField, text: string): string | undefined => {
  if (minLength === undefined && maxLength === undefined) return undefined;
  let length = 0;
  for (const _character of text) length += 1;
  return rangeProblem(length, minLength, maxLength, (bound) => `must have ${bound} characters`);
};

/** `limit` says a bound in words. */
const rangeProblem = (
  size: number,
  least: number | undefined,
  most: number | undefined,
  limit: (bound: string) => string,
): string | undefined => {
  if (least !== undefined && size < least) return limit(`at least ${least}`);
  if (most !== undefined && size > most) return limit(`at most ${most}`);
  return undefined;
};

const formatProblem = ({ format }: FormField, text: string): string | undefined => {
  switch (format) {
    case 'email':
      return z.email().safeParse(text).success ? undefined : 'must be an email address';
    case 'uri':
      return /^[a-z][a-z0-9+.-]*:\S+$/i.test(text) && URL.canParse(text) ? undefined : 'must be a whole URL';
    case 'date':
      return z.iso.date().safeParse(text).success ? undefined : 'must be a date such as 2026-01-31';
    case 'date-time':
      return z.iso.datetime({ offset: true }).safeParse(text).success
        ? undefined
        : 'must be a time such as 2026-01-31T08:00:00Z';
    case undefined:
      return undefined;
  }
};
