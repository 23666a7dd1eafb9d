import { isObject } from '../../../packages/gantry/src/kernel/json.ts';
import type { Handler } from '../lib/verdict.ts';
import { NotCovered } from '../lib/verdict.ts';
import { answeredLate } from './timed/answered-late.ts';
import { cancelledTranscript } from './timed/cancelled.ts';
import { progressTokens } from './timed/progress-tokens.ts';
import { stoppedTurn } from './timed/stopped-turn.ts';
import { timeouts } from './timed/timeouts.ts';
import { asText } from '../lib/read-cases.ts';

/** Events with times → outcome and time. What the input holds says which sort of transcript it is. */
export const timedTranscript: Handler = async (fieldCase) => {
  const { input } = fieldCase;
  const steps = Array.isArray(input['script']) ? (input['script'] as unknown[]) : [];
  if (steps.some((step) => isObject(step) && /^elicitation\/create\b/.test(asText(step['s']))))
    return await answeredLate(fieldCase);
  if ('rows' in input) return await timeouts(fieldCase);
  if ('callerWantsProgress' in input) return await progressTokens(fieldCase);
  if ('calls' in input) return await stoppedTurn(fieldCase);
  if ('script' in input) return await cancelledTranscript(fieldCase);
  throw new NotCovered('the transcript is of no sort that this runner knows');
};
