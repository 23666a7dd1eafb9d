import { isObject } from '../../../kernel/json.ts';
import { flattenText } from '../../../text/flatten.ts';
import { valueProblem } from './field-value.ts';
import type { FieldOption, FieldValue, FormField } from './form-field.ts';

const maxDescriptionChars = 4_000;
const formats = ['email', 'uri', 'date', 'date-time'] as const;

/** Reads the schema of one field; `undefined` when it is none of the kinds that the protocol has. */
export const readField = (name: string, schema: unknown, required: boolean): FormField | undefined => {
  if (!isObject(schema)) return undefined;
  // A member that is not looked at here could say to a person what the others do not.
  if (!Object.entries(schema).every(([key, value]) => isKnown(key, value))) return undefined;
  const { items } = schema;
  if (isObject(items) && !Object.entries(items).every(([key, value]) => isItemKnown(key, value))) return undefined;
  const kind = readKind(schema);
  if (!kind) return undefined;
  const field: FormField = {
    name,
    ...textOf(schema, 'title', 200),
    ...textOf(schema, 'description', maxDescriptionChars),
    required,
    ...kind,
  };
  const fallback = schema['default'];
  if (fallback === undefined || valueProblem(field, fallback) !== undefined) return field;
  return { ...field, default: fallback as FieldValue };
};

const textMembers: ReadonlySet<string> = new Set([
  'title',
  'description',
  'type',
  'pattern',
  '$id',
  '$schema',
  '$comment',
]);
const numberMembers: ReadonlySet<string> = new Set(
  'minLength maxLength minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems'.split(' '),
);
const flagMembers: ReadonlySet<string> = new Set(['uniqueItems', 'writeOnly', 'readOnly', 'deprecated']);
const optionMembers: ReadonlySet<string> = new Set(['const', 'title', 'description']);

const isKnown = (key: string, value: unknown): boolean => {
  // A client might hide what is written for a format that nobody here knows, or show the format itself.
  if (key === 'format') return formats.some((known) => known === value);
  if (textMembers.has(key)) return typeof value === 'string';
  if (numberMembers.has(key)) return typeof value === 'number';
  if (flagMembers.has(key)) return typeof value === 'boolean';
  if (key === 'enum' || key === 'enumNames') return true;
  if (key === 'oneOf' || key === 'anyOf')
    return (
      Array.isArray(value) &&
      value.every((option) => isObject(option) && Object.keys(option).every((member) => optionMembers.has(member)))
    );
  return key === 'default' || key === 'items';
};

/** Items of items, and defaults of items, are in no form. */
const isItemKnown = (key: string, value: unknown): boolean =>
  key !== 'items' && key !== 'default' && isKnown(key, value);

type Kind = Omit<FormField, 'name' | 'title' | 'description' | 'required' | 'default'>;

const readKind = (schema: Readonly<Record<string, unknown>>): Kind | undefined => {
  const type = schema['type'];
  if (type === 'array') {
    const items = schema['items'];
    const options = isObject(items) && isStringTyped(items) ? readOptions(items, 'anyOf') : undefined;
    return options && { type: 'choices', options, ...numbersOf(schema, ['minItems', 'maxItems']) };
  }
  if (isStringTyped(schema) && ('enum' in schema || 'oneOf' in schema)) {
    const options = readOptions(schema, 'oneOf');
    return options && { type: 'choice', options };
  }
  // A rule that is not checked here could let a value pass that the server never meant.
  if (combining.some((keyword) => keyword in schema)) return undefined;
  switch (type) {
    case 'string': {
      const format = formats.find((known) => known === schema['format']);
      return { type, ...numbersOf(schema, ['minLength', 'maxLength']), ...(format && { format }) };
    }
    case 'number':
    case 'integer':
      return { type, ...numbersOf(schema, ['minimum', 'maximum']) };
    case 'boolean':
      return { type };
    default:
      return undefined;
  }
};

const combining = ['enum', 'const', 'oneOf', 'anyOf', 'allOf', 'not', 'if', '$ref'];

/** Older servers leave the type of a choice out. */
const isStringTyped = (schema: Readonly<Record<string, unknown>>): boolean =>
  schema['type'] === undefined || schema['type'] === 'string';

const readOptions = (
  schema: Readonly<Record<string, unknown>>,
  keyword: 'oneOf' | 'anyOf',
): readonly FieldOption[] | undefined => {
  const list = schema['enum'] ?? schema[keyword];
  if (!Array.isArray(list) || list.length === 0) return undefined;
  const titles: readonly unknown[] = Array.isArray(schema['enumNames']) ? schema['enumNames'] : [];
  const options = list.map((item: unknown, index): FieldOption | undefined => {
    const value = isObject(item) && schema['enum'] === undefined ? item['const'] : item;
    const title = isObject(item) ? item['title'] : titles[index];
    if (typeof value !== 'string') return undefined;
    return { value, ...(typeof title === 'string' && { title: flattenText(title) }) };
  });
  return options.every((option) => option !== undefined) ? options : undefined;
};

const textOf = (schema: Readonly<Record<string, unknown>>, key: 'title' | 'description', maxChars: number): object => {
  const text = schema[key];
  const flat = typeof text === 'string' ? flattenText(text, { maxChars }) : '';
  return flat === '' ? {} : { [key]: flat };
};

const numbersOf = (schema: Readonly<Record<string, unknown>>, keys: readonly string[]): Partial<Kind> =>
  Object.fromEntries(keys.map((key) => [key, schema[key]]).filter(([, value]) => typeof value === 'number'));
