import type { Json, JsonObject } from '../../../kernel/json.ts';
import { valueProblem } from './field-value.ts';
import type { FormField } from './form-field.ts';
import { shownName } from './form-field.ts';
import type { Form } from './form.ts';

/** What may be sent to the server, or what is wrong, as a sentence: each field, and what it has to be. Values are never part of it. */
export type CheckedAnswers =
  | { readonly ok: true; readonly content: JsonObject; readonly answeredFields: readonly string[] }
  | { readonly ok: false; readonly reason: string };

/**
 * Checks answers against a form. Names are found in any case, fields that the form does not have are dropped, and `settled` wins over
 * everything. Nothing is converted; optional fields that are left out stay out, so the server takes its own default.
 */
export const checkAnswers = (form: Form, answers: JsonObject, settled: JsonObject): CheckedAnswers =>
  check(form, settled, ({ name }) => valueOf(form, answers, name));

/**
 * The same for answers that a person gives in a form: what is left out gets the form's default, and a shown title stands for its value.
 */
export const checkPersonAnswers = (form: Form, answers: JsonObject, settled: JsonObject): CheckedAnswers =>
  check(form, settled, (field) => {
    const value = valueOf(form, answers, field.name);
    return value === undefined ? field.default : withoutTitles(field, value);
  });

const check = (form: Form, settled: JsonObject, answerTo: (field: FormField) => Json | undefined): CheckedAnswers => {
  const content: [string, Json][] = [];
  const problems: string[] = [];
  for (const field of form.fields) {
    const value = Object.hasOwn(settled, field.name) ? settled[field.name] : answerTo(field);
    const problem = value === undefined ? (field.required ? 'is required' : undefined) : valueProblem(field, value);
    if (problem !== undefined) problems.push(`"${shownName(field.name)}" ${problem}`);
    else if (value !== undefined) content.push([field.name, value]);
  }
  if (problems.length > 0) return { ok: false, reason: `${problems.slice(0, 10).join('; ')}.` };
  // A field may be called `__proto__`.
  return { ok: true, content: Object.fromEntries(content), answeredFields: content.map(([name]) => name) };
};

/** What the answers say of a field. A name that is spelt exactly goes before the same in another case or as it was shown. */
const valueOf = ({ fields }: Form, answers: JsonObject, name: string): Json | undefined => {
  if (Object.hasOwn(answers, name)) return answers[name];
  const wanted = name.toLowerCase();
  const shown = shownName(name).toLowerCase();
  const key = Object.keys(answers).find((candidate) => {
    const lower = candidate.toLowerCase();
    return (lower === wanted || lower === shown) && !fields.some((field) => field.name === candidate);
  });
  return key === undefined ? undefined : answers[key];
};

const withoutTitles = (field: FormField, value: Json): Json => {
  if (field.type === 'choice') return optionValue(field, value);
  // A list in JSON is one to TypeScript only when it is told so.
  return field.type === 'choices' && Array.isArray(value)
    ? (value as readonly Json[]).map((item) => optionValue(field, item))
    : value;
};

/** A title that two options share says nothing, and a value goes before a title that reads the same. */
const optionValue = ({ options = [] }: FormField, given: Json): Json => {
  if (options.some(({ value }) => value === given)) return given;
  const titled = options.filter(({ title }) => title === given);
  return titled.length === 1 ? (titled[0]?.value ?? given) : given;
};
