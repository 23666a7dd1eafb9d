import type { JsonObject } from '../../../kernel/json.ts';
import { isObject, parseJson } from '../../../kernel/json.ts';
import { cutText } from '../../../text/cut.ts';
import { redactText } from '../../../text/scrub-strictly.ts';
import type { ElicitationAnswer } from './responder.ts';

/** Far more than a form's answers take. */
const maxReplyChars = 50_000;
const maxAttempts = 20;

/**
 * Reads what a model said: the first JSON object in the text, `{"action": "accept", "content": {…}}` or `{"action": "decline", "reason":
 * "…"}`. Anything else is a decline.
 */
export const parseReply = (text: string): ElicitationAnswer => {
  const reply = firstObject(cutText(text, maxReplyChars));
  if (reply?.['action'] === 'accept' && isObject(reply['content']))
    return { action: 'accept', content: reply['content'] as JsonObject };
  if (reply?.['action'] !== 'decline')
    return { action: 'decline', reason: 'the model that was asked gave no usable answer' };
  const reason = reply['reason'];
  return {
    action: 'decline',
    reason:
      typeof reason === 'string' && reason.trim() !== ''
        ? redactText(cutText(reason, 1_000))
        : 'the call does not say it',
  };
};

/** The first balanced part between braces that is JSON. */
const firstObject = (text: string): Readonly<Record<string, unknown>> | undefined => {
  let start = text.indexOf('{');
  for (let attempt = 0; start >= 0 && attempt < maxAttempts; attempt += 1) {
    const end = closingBrace(text, start);
    const parsed = end === undefined ? undefined : parseJson(text.slice(start, end + 1));
    if (parsed?.ok && isObject(parsed.value)) return parsed.value;
    start = text.indexOf('{', start + 1);
  }
  return undefined;
};

/** Where the brace at `start` is closed; braces in strings do not count. */
const closingBrace = (text: string, start: number): number | undefined => {
  let depth = 0;
  let isInString = false;
  for (let index = start; index < text.length; index += 1) {
    const character = text[index];
    if (isInString) {
      if (character === '\\') index += 1;
      else if (character === '"') isInString = false;
    } else if (character === '"') isInString = true;
    else if (character === '{') depth += 1;
    else if (character === '}') {
      depth -= 1;
      if (depth === 0) return index;
    }
  }
  return undefined;
};
