import type { ModelMessage } from 'ai';
import type { Step } from './step.ts';
import { internal, isSetUpPhrase } from './nudges.ts';
import { toPlainMessages } from './plain-messages.ts';
import { repairHistory } from './repair-history.ts';
import { askedMessage } from './step-messages.ts';
import { withoutVendorTokens } from './vendor-tokens.ts';

/** Why the last words of a turn are asked for without tools. */
export type ClosingReason = 'iterations' | 'errors' | 'empty';

const asks: Readonly<Record<ClosingReason, string>> = {
  iterations: 'The limit of tool calls for this turn is reached; no more can be made.',
  errors: 'Too many calls failed in a row; no more can be made in this turn.',
  empty: 'Your answer was empty.',
};
const backward =
  'Tell the user in words what was done and found so far, what failed, and what is left to do. Look back only: announce nothing, call nothing.';

/** When nothing at all came. */
export const nothingSaidText =
  'I could not put an answer together. What I did so far is kept in this conversation; please ask again, or ask for a part of it.';

/** When tools took too long twice. */
export const timeoutsText =
  "I'm sorry: what this needs is taking too long to answer right now, so I stopped. Please try again in a while.";

/**
 * The last words of a turn that can make no more calls: one request without tools for a look back, once more when that only announces
 * something, else the last words that the model did say. Never empty.
 */
export const closingAnswer = async (options: {
  readonly reason: ClosingReason;
  readonly messages: readonly ModelMessage[];
  readonly lastText: string;
  /** Asks without tools. */
  readonly ask: (messages: readonly ModelMessage[]) => Promise<Step>;
}): Promise<string> => {
  const { reason, messages, lastText, ask } = options;
  const plain = [...toPlainMessages(repairHistory(messages)), askedMessage(internal(`${asks[reason]} ${backward}`))];
  let text = withoutVendorTokens((await ask(plain)).text).trim();
  if (isSetUpPhrase(text)) {
    const again = [...plain, { role: 'assistant' as const, content: text }, askedMessage(internal(backward))];
    text = withoutVendorTokens((await ask(again)).text).trim() || text;
  }
  return text || lastText.trim() || nothingSaidText;
};
