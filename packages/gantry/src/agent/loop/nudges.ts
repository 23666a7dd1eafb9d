import type { ModelBehavior } from '../models/model-behavior.ts';
import { hasLeakedSyntax } from './vendor-tokens.ts';

/** What is known of an answer that calls nothing. */
export interface FinalAnswer {
  readonly text: string;
  /** Tools could have been called. */
  readonly hasTools: boolean;
  /** Calls that the turn has made. */
  readonly calls: number;
  /** The last of them failed. */
  readonly endedInError: boolean;
}

const claim =
  /\b(?:I(?:'ve| have)(?: now| just| successfully)?|I(?: just| successfully)?|It(?:'s| has been| is)(?: now)?)\s+(?:created|sent|scheduled|booked|deleted|updated|saved|added|cancelled|canceled|moved|uploaded|posted|published|completed|done)\b/i;
const givingUp =
  /\b(?:unable to|(?:can(?:not|'t)|could(?: not|n't)|was(?: not|n't) able to)\s+(?:access|retrieve|find|complete|fetch|get|reach|do|perform|load|read)|(?:ran into|encountered|there was) an (?:error|issue|problem))\b/i;

/** Whether a text only announces what comes next, as models do that forget to do it. */
export const isSetUpPhrase = (text: string): boolean => /(?::|\.\.\.|…)$/.test(text.trim());

/**
 * What to ask a model again for, when its answer looks as if it had stopped halfway; undefined when the answer stands. Asked at most once
 * a turn, so a model that means it has the last word.
 */
export const nudgeFor = (answer: FinalAnswer, behavior: ModelBehavior): string | undefined => {
  const { text, hasTools, calls, endedInError } = answer;
  if (!hasTools) return undefined;
  if (isSetUpPhrase(text))
    return internal('You announced something and stopped. Make the call now, or give the answer.');
  if (behavior.nudgeLeakedSyntax && hasLeakedSyntax(text))
    return internal('You wrote a call into your answer, so it did not run. Make it as a real call.');
  if (behavior.nudgeHallucinatedActions && calls === 0 && claim.test(text))
    return internal(
      'You say that something was done, but no tool was called in this turn. If it is to be done, make the call now; if not, say what is true.',
    );
  if (behavior.nudgeGivingUp !== false && endedInError && givingUp.test(text))
    return internal(
      'The last call failed, and you gave up. Try another way if there is one: other arguments, another tool. If there is none, say what failed and why.',
    );
  return undefined;
};

/** The loop's own words stand as a user's message, so they say what they are. */
export const internal = (text: string): string => `[Automatic check, not from the user] ${text}`;
