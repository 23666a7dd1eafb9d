import { isObject } from '../../../kernel/json.ts';
import { flattenText } from '../../../text/flatten.ts';
import type { FormField } from './form-field.ts';
import { shownName } from './form-field.ts';
import { readField } from './read-field.ts';
import { textsIn } from './texts-in.ts';

export type { FormField } from './form-field.ts';
export { checkAnswers, checkPersonAnswers } from './check-answers.ts';
export { isDecision } from './decision-field.ts';

/** A question of a server. Plain JSON, so it can be kept. */
export interface Form {
  /** On one line. */
  readonly message: string;
  /** None: the server asks for a bare confirmation, which only a person can give. */
  readonly fields: readonly FormField[];
}

/** The most that is read; a longer form fits neither a prompt nor a person. */
const limits = { messageChars: 2_000, fields: 50, options: 500, textChars: 20_000, allChars: 200_000 };

const schemaKeys: ReadonlySet<string> = new Set([
  '$schema',
  '$id',
  'type',
  'properties',
  'required',
  'title',
  'description',
  'additionalProperties',
]);

/** Reads the parameters of an `elicitation/create` request in form mode, or says why they cannot be read, naming the fields. */
export const readForm = (params: unknown): { readonly form: Form } | { readonly problem: string } => {
  if (!isObject(params)) return { problem: 'it has no parameters' };
  const schema = params['requestedSchema'] ?? {};
  const properties = isObject(schema) ? (schema['properties'] ?? {}) : undefined;
  if (!isObject(schema) || !isObject(properties) || !['object', undefined].some((type) => type === schema['type']))
    return { problem: 'its schema is not that of a form' };
  // A reader that knows more of JSON Schema would ask for what was not looked at here (MCP: flat objects of simple fields).
  const { additionalProperties: others = false } = schema;
  if (typeof others !== 'boolean') return { problem: 'it asks for members beside its fields' };
  const unread = Object.keys(schema).filter((key) => !schemaKeys.has(key));
  if (unread.length > 0)
    return { problem: `its schema has members that a form has not: ${listed(unread.slice(0, 5))}` };
  const required: readonly unknown[] = Array.isArray(schema['required']) ? schema['required'] : [];
  const entries = Object.entries(properties);
  if (entries.length > limits.fields) return { problem: `it has more than ${limits.fields} fields` };
  const lost = required.filter((name) => typeof name !== 'string' || !Object.hasOwn(properties, name));
  if (lost.length > 0) return { problem: `it requires fields that it does not have: ${listed(lost.map(String))}` };

  // Nothing of what a client would be shown is left unread.
  const texts = textsIn({ message: params['message'], schema });
  const total = texts.reduce((sum, { length }) => sum + length, 0);
  if (total > limits.allChars || texts.some(({ length }) => length > limits.textChars))
    return { problem: 'its texts are too long to be read by anybody' };
  const fields: FormField[] = [];
  const unreadable: string[] = [];
  for (const [name, property] of entries) {
    const field = readField(name, property, required.includes(name));
    if (field) fields.push(field);
    else unreadable.push(name);
  }
  if (unreadable.length > 0)
    return { problem: `these fields are of a kind that cannot be answered: ${listed(unreadable)}` };
  if (fields.reduce((sum, { options }) => sum + (options?.length ?? 0), 0) > limits.options)
    return { problem: `it offers more than ${limits.options} choices` };
  return { form: { message: messageIn(params), fields } };
};

/** The server's message on one line; also of parameters that are no form. */
export const messageIn = (params: unknown): string => {
  const message = isObject(params) ? params['message'] : undefined;
  return typeof message === 'string' ? flattenText(message, { maxChars: limits.messageChars }) : '';
};

/** The names of the fields that are asked for, each on one line; also of a form that cannot be read. */
export const fieldNamesIn = (params: unknown): readonly string[] => {
  const schema = isObject(params) ? params['requestedSchema'] : undefined;
  const properties = isObject(schema) ? schema['properties'] : undefined;
  return isObject(properties) ? Object.keys(properties).slice(0, limits.fields).map(shownName) : [];
};

const listed = (names: readonly string[]): string => names.map((name) => `"${shownName(name)}"`).join(', ');
