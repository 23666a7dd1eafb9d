import { isObject } from '../../../kernel/json.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { parseArguments } from '../../../text/parse-arguments.ts';
import type { Decision } from '../elicitation/decide-question.ts';
import { checkAnswers, checkPersonAnswers, isDecision } from '../elicitation/form.ts';
import type { Form } from '../elicitation/form.ts';
import { refusal } from './question-refusals.ts';

/** What an answerer says. */
export interface GivenAnswer {
  /** Values by field name: an object, or its JSON text. */
  readonly answers?: unknown;
  readonly decline?: boolean | undefined;
  /** The form was put away without a decision; for persons only. */
  readonly cancel?: boolean | undefined;
}

/** Who answers: the agent in its session, or a person who is shown the form. */
export type Answerer = { readonly kind: 'agent'; readonly session: string | undefined } | { readonly kind: 'person' };

/** An answer that may be sent, and the names of the fields it fills. */
export interface CheckedAnswer {
  readonly decision: Exclude<Decision, { readonly action: 'hand-back' }>;
  readonly answeredFields: readonly string[];
}

/**
 * Checks an answer against the form that was asked.
 *
 * @param hasUserSpoken whether the user of the session has said anything since the question was handed back.
 * @throws {GantryError} `invalid_arguments`; the question stays open.
 */
export const checkedAnswer = async (
  question: { readonly form: Form; readonly settled: JsonObject },
  given: GivenAnswer,
  by: Answerer,
  hasUserSpoken: () => Promise<boolean>,
): Promise<CheckedAnswer> => {
  if (given.decline === true)
    return { decision: { action: 'decline', reason: 'declined by whoever was asked' }, answeredFields: [] };
  if (given.cancel === true && by.kind === 'person') return { decision: { action: 'cancel' }, answeredFields: [] };
  if (given.answers === undefined || given.answers === null)
    throw refusal('Give "answers", an object of values by field name, or "decline": true. The question stays open.');
  const { form, settled } = question;
  const answers = toAnswers(given.answers);
  const check = by.kind === 'person' ? checkPersonAnswers : checkAnswers;
  const checked = check(form, answers, settled);
  if (!checked.ok) throw refusal(`The answer does not fit: ${checked.reason} The question stays open.`);
  const settledNames = new Set(Object.keys(settled));
  const decided = form.fields.filter(
    (field) => isDecision(field) && Object.hasOwn(checked.content, field.name) && !settledNames.has(field.name),
  );
  const isConfirmation = form.fields.length === 0;
  if (by.kind === 'agent' && (decided.length > 0 || isConfirmation) && !(await hasUserSpoken())) {
    const what = isConfirmation ? 'The confirmation' : decided.map(({ name }) => `"${name}"`).join(', ');
    throw refusal(
      `${what} is for the user to decide, and the user has said nothing since the question was asked. Ask the user, and answer after the reply; or decline. The question stays open.`,
    );
  }
  return { decision: { action: 'accept', content: checked.content }, answeredFields: checked.answeredFields };
};

const toAnswers = (given: unknown): JsonObject => {
  if (isObject(given)) return given as JsonObject;
  const parsed = typeof given === 'string' ? parseArguments(given) : undefined;
  if (parsed?.ok) return parsed.value;
  throw refusal('"answers" must be a JSON object of values by field name. The question stays open.');
};
