import { wholeTextOf } from '../../../net/whole-response.ts';
import type { Outcome } from '../../../tool/outcome.ts';
import { failedOutcome } from '../../../tool/outcome.ts';

/**
 * How a call that was passed on has ended, by a look at its answer, which is not read for it. Of a stream it is known only that it has begun.
 */
export const outcomeOf = (response: Response): Outcome => {
  const text = wholeTextOf(response);
  // What is in it is between the client and the server, and is kept nowhere.
  const shown = text === undefined ? '(an answer in a stream)' : `(${text.length} characters, passed on)`;
  // In a text that is JSON these are members, of the result or of the answer itself: within a text their quotes would be escaped.
  const isFailed = text !== undefined && (/"isError"\s*:\s*true/.test(text) || !text.includes('"result"'));
  return response.ok && !isFailed
    ? { status: 'done', parts: [{ type: 'text', text: shown }] }
    : failedOutcome('execution_failed', shown);
};
