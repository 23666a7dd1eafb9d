import { isObject, parseJson } from '../../../kernel/json.ts';
import { partsText } from '../../../tool/outcome-text.ts';
import type { Outcome } from '../../../tool/outcome.ts';

// Servers that report a failure as an ordinary result do so in short objects; a long one is data.
const longestErrorObject = 4_096;

/** What a tool said about its failure: its error result, or the text under `error` in an object that it gave as its result. */
export const errorTextOf = (outcome: Outcome): string | undefined => {
  if (outcome.status === 'parked') return undefined;
  if (outcome.status === 'failed') return outcome.failure.reported && partsText(outcome.failure.reported.parts);
  const text = partsText(outcome.parts);
  if (text.length > longestErrorObject || !text.trimStart().startsWith('{')) return undefined;
  const parsed = parseJson(text);
  if (!parsed.ok || !isObject(parsed.value)) return undefined;
  const error = parsed.value['error'] ?? parsed.value['Error'];
  return typeof error === 'string' ? error : undefined;
};
