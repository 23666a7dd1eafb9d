import { jsonProblem } from '../kernel/json-problem.ts';
import type { Outcome, ToolReport } from './outcome.ts';
import { failedOutcome } from './outcome.ts';

/**
 * The outcome itself when everything in it can be written as JSON; else a failed one that says what cannot (a value that
 * contains itself, a function, nesting without end), because every caller gets results as JSON in the end.
 */
export const toWritableOutcome = (outcome: Outcome): Outcome => {
  const problem = outcomeProblem(outcome);
  return problem === undefined
    ? outcome
    : failedOutcome('execution_failed', `The tool ran, but its result cannot be passed on: it holds ${problem}.`);
};

const outcomeProblem = (outcome: Outcome): string | undefined => {
  switch (outcome.status) {
    case 'done':
      return reportProblem(outcome);
    case 'failed':
      return outcome.failure.reported && reportProblem(outcome.failure.reported);
    case 'parked':
      return jsonProblem(outcome.parts);
  }
};

const reportProblem = ({ parts, structured, meta }: ToolReport): string | undefined =>
  jsonProblem(structured) ?? jsonProblem(parts) ?? jsonProblem(meta);
