import type { Json, JsonObject } from '../../../kernel/json.ts';
import { parseJson } from '../../../kernel/json.ts';
import { valueProblem } from './field-value.ts';
import type { FormField } from './form-field.ts';
import type { Form } from './form.ts';

/**
 * The operator's answers that fit a form, by the form's own names. One that does not fit (the server may have changed) is dropped and
 * named in `dropped`.
 */
export const settleDefaults = (
  form: Form,
  defaults: Readonly<Record<string, Json>>,
): { readonly settled: JsonObject; readonly dropped: readonly string[] } => {
  const settled: [string, Json][] = [];
  const dropped: string[] = [];
  for (const field of form.fields) {
    const given = valueNamed(defaults, field.name);
    if (given === undefined) continue;
    const value = readings(field, given).find((reading) => valueProblem(field, reading) === undefined);
    if (value === undefined) dropped.push(field.name);
    else settled.push([field.name, value]);
  }
  return { settled: Object.fromEntries(settled), dropped };
};

const valueNamed = (defaults: Readonly<Record<string, Json>>, name: string): Json | undefined => {
  if (Object.hasOwn(defaults, name)) return defaults[name];
  const key = Object.keys(defaults).find((candidate) => candidate.toLowerCase() === name.toLowerCase());
  return key === undefined ? undefined : defaults[key];
};

/** The environment knows texts only, so one may be the JSON literal that it spells, for fields that hold no text. */
const readings = (field: FormField, given: Json): readonly Json[] => {
  if (typeof given !== 'string' || !literalTypes.has(field.type)) return [given];
  const literal = parseJson(given);
  return literal.ok && (typeof literal.value === 'number' || typeof literal.value === 'boolean') ? [literal.value] : [];
};
const literalTypes: ReadonlySet<FormField['type']> = new Set(['number', 'integer', 'boolean'] as const);
