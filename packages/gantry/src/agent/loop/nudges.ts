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
  /** Everything that the model was given so far: what was said, and results of tools. */
  readonly given: () => string;
}

const claim =
  /\b(?:I(?:'ve| have)(?: now| just| successfully)?|I(?: just| successfully)?|It(?:'s| has been| is)(?: now)?)\s+(?:created|sent|scheduled|booked|deleted|updated|saved|added|cancelled|canceled|moved|uploaded|posted|published|completed|done)\b/i;
const givingUp =
  /\b(?:unable to|(?:can(?:not|'t)|could(?: not|n't)|was(?: not|n't) able to)\s+(?:access|retrieve|find|complete|fetch|get|reach|do|perform|load|read)|(?:ran into|encountered|there was) an (?:error|issue|problem))\b/i;

const idClaim =
  /\b(?:id|identifier|reference|confirmation|booking|order|ticket|tracking|invoice|event|case)(?:\s+(?:id|number|no\.?|code))?\s*(?:is|:|#|=)\s*["'`*]*([A-Za-z0-9][\w-]{4,})/gi;
const mostIds = 50;
const eastAsian = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;
const namesEastAsia =
  /\b(?:chinese|mandarin|cantonese|pinyin|japanese|kanji|kana|hiragana|katakana|korean|hangul|cjk)\b/i;

/** Whether a text says that the speaker has done something. */
export const claimsAction = (text: string): boolean => claim.test(text);

/** Whether a text only announces what comes next, as models do that forget to do it. */
export const isSetUpPhrase = (text: string): boolean => /(?::|\.\.\.|…)$/.test(text.trim());

/**
 * What to ask a model again for, when its answer looks as if it had stopped halfway; undefined when the answer stands. Asked at most once
 * a turn, so a model that means it has the last word.
 */
export const nudgeFor = (answer: FinalAnswer, behavior: ModelBehavior): string | undefined => {
  const { text, hasTools, calls, endedInError } = answer;
  if (behavior.nudgeUnexpectedCjk && hasUnexpectedCjk(answer))
    return internal(
      'Your answer has Chinese, Japanese or Korean characters, which nobody used or asked for. Give the whole answer again, in the language of the user.',
    );
  if (!hasTools) return undefined;
  if (isSetUpPhrase(text))
    return internal('You announced something and stopped. Make the call now, or give the answer.');
  if (behavior.nudgeLeakedSyntax && hasLeakedSyntax(text))
    return internal('You wrote a call into your answer, so it did not run. Make it as a real call.');
  if (behavior.nudgeHallucinatedActions && calls === 0 && claimsAction(text))
    return internal(
      'You say that something was done, but no tool was called in this turn. If it is to be done, make the call now; if not, say what is true.',
    );
  if (behavior.nudgeHallucinatedActions && calls === 0 && hasUnknownId(answer))
    return internal(
      'You name an id or number that is in nothing you were told, and no tool was called in this turn. Make the call that gives it now, or leave it out.',
    );
  if (behavior.nudgeGivingUp !== false && endedInError && givingUp.test(text))
    return internal(
      'The last call failed, and you gave up. Try another way if there is one: other arguments, another tool. If there is none, say what failed and why.',
    );
  return undefined;
};

/** An id that no message and no result of a tool holds can only be made up. */
const hasUnknownId = ({ text, given }: FinalAnswer): boolean => {
  const ids = new Set([...text.matchAll(idClaim)].flatMap(([, id = '']) => (/\d/.test(id) ? [id] : [])));
  if (ids.size === 0) return false;
  const known = given();
  // Each is looked for in the whole conversation; an answer that makes ids up does so from the first on.
  return [...ids].slice(0, mostIds).some((id) => !known.includes(id));
};

const hasUnexpectedCjk = ({ text, given }: FinalAnswer): boolean => {
  if (!eastAsian.test(text)) return false;
  const known = given();
  return !eastAsian.test(known) && !namesEastAsia.test(known);
};

/** The loop's own words stand as a user's message, so they say what they are. */
export const internal = (text: string): string => `[Automatic check, not from the user] ${text}`;
