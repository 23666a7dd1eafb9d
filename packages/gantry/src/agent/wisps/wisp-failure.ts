import type { Outcome } from '../../tool/outcome.ts';
import { outcomeText } from '../../tool/outcome-text.ts';

/**
 * What has to change before a step can succeed: the definition (`Structural`), nothing but time or the outside (`External`), the data that goes
 * in (`Data`), or what is asked of a model (`Judgment`).
 */
export type FailureCategory = 'Structural' | 'External' | 'Data' | 'Judgment';

/** Why a step failed. */
export interface WispFailure {
  readonly category: FailureCategory;
  readonly message: string;
}

const structural =
  /\bmissing (?:a |the )?(?:required )?(?:parameter|argument|field)|\bnot registered\b|\bunknown tool\b|\bno tool (?:named )?"|\binvalid (?:argument|param|input|request|value)|\bwas not called\b|\bis required\b/i;
const external =
  /\btime[ds]?[ -]?out\b|\bno result within\b|\bunavailable\b|\bunreachable\b|\brate[ -]?limit|\btoo many requests\b|\b(?:429|502|503|504)\b/i;
const data =
  /\bunexpected (?:format|token|end)|\bempty (?:result|response)|\bpars(?:e|ing)\b|\bschema\b|\bmalformed\b|\bnot valid json\b/i;

/** The category of an error by its text; what cannot be told counts as `External`. */
export const categoryOf = (text: string): FailureCategory => {
  if (structural.test(text)) return 'Structural';
  if (external.test(text)) return 'External';
  return data.test(text) ? 'Data' : 'External';
};

/** Why a call failed. A code that says it all goes before the text. */
export const failureOf = (outcome: Exclude<Outcome, { readonly status: 'done' }>): WispFailure => {
  const message = outcomeText(outcome);
  if (outcome.status === 'parked')
    return {
      category: 'External',
      message: `The call goes on without this pipeline, which cannot wait for it: ${message}`,
    };
  switch (outcome.failure.code) {
    case 'tool_not_found':
    case 'invalid_arguments':
      return { category: 'Structural', message };
    case 'timeout':
    case 'auth_required':
      return { category: 'External', message };
    case 'execution_failed':
      return { category: categoryOf(message), message };
  }
};
