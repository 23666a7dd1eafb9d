import type { CallableTools } from '../../tool/callable-tools.ts';
import type { CallContext } from '../../tool/context.ts';
import { targetOfCall } from './effect-of-call.ts';
import { isSetUpPhrase } from './nudges.ts';
import type { RanCall } from './run-calls.ts';
import { withoutVendorTokens } from './vendor-tokens.ts';

/** Why a step with calls is the last one of its turn, and its answer. */
export interface LastStep {
  /** A tool ended the turn; else the model had said all, beside calls whose results it need not see. */
  readonly isEndedByTool: boolean;
  readonly text: string;
}

/**
 * Whether a turn is over with these calls, without asking the model again: one of them ended it, or none of them needs a follow-up and the
 * model has already written its answer. Only when none failed, or put something before the model: nobody else would hear of it. Only
 * registered tools can do either: a server has no say in how turns end.
 */
export const lastStepOf = (
  /** What the model wrote beside the calls. */
  said: string,
  calls: readonly RanCall[],
  toolsets: Pick<CallableTools, 'find'>,
  context: CallContext,
): LastStep | undefined => {
  if (calls.some(({ isError, item }) => isError || item)) return undefined;
  const answer = withoutVendorTokens(said).trim();
  const isOwn = (call: RanCall): boolean => targetOfCall(toolsets, call, context)?.source.startsWith('mcp:') === false;
  const ending = calls.findLast((call) => call.endsTurn && isOwn(call));
  if (ending) return { isEndedByTool: true, text: answer === '' ? ending.text : answer };
  const needsNone = (call: RanCall): boolean =>
    call.status === 'done' && isOwn(call) && targetOfCall(toolsets, call, context)?.requiresFollowUp === false;
  const isSaid = answer !== '' && !isSetUpPhrase(answer);
  return isSaid && calls.every(needsNone) ? { isEndedByTool: false, text: answer } : undefined;
};
