import { jsonProblem } from '../kernel/json-problem.ts';
import { isObject } from '../kernel/json.ts';
import type { ContextItem, Outcome, ToolReport } from './outcome.ts';
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
      return reportProblem(outcome) ?? itemProblem(outcome.contextItem);
    case 'failed':
      return outcome.failure.reported && reportProblem(outcome.failure.reported);
    case 'parked':
      return jsonProblem(outcome.parts);
  }
};

const reportProblem = ({ parts, structured, meta }: ToolReport): string | undefined =>
  jsonProblem(structured) ?? jsonProblem(parts) ?? jsonProblem(meta);

/** Whoever shows it to a model relies on its shape, and code without types may have any. */
const itemProblem = (item: ContextItem | undefined): string | undefined => {
  if (item === undefined) return undefined;
  const isItem =
    isObject(item) && typeof item.text === 'string' && Array.isArray(item.media) && item.media.every(isMedia);
  return isItem ? undefined : 'a context item without text, or with media that name no type and no path or stashKey';
};

const isMedia = (media: unknown): boolean =>
  isObject(media) &&
  typeof media['mediaType'] === 'string' &&
  (typeof media['path'] === 'string' || typeof media['stashKey'] === 'string');
