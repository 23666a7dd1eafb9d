import type { JsonObject } from '../../../kernel/json.ts';
import type { CallContext } from '../../../tool/context.ts';
import { reportedFailure } from '../../../tool/messages.ts';
import type { Outcome } from '../../../tool/outcome.ts';
import { partsText } from '../../../tool/outcome-text.ts';
import type { DownstreamTool } from '../../wire/manage-messages.ts';
import { argumentHint } from './argument-hint.ts';

/** The outcome of a tool that reported an error, with a hint on the arguments in a part of its own; one passed through stays as it is. */
export const withHint = (
  outcome: Outcome,
  tool: DownstreamTool,
  args: JsonObject,
  { caller }: Pick<CallContext, 'caller'>,
): Outcome => {
  const report = outcome.status === 'failed' ? outcome.failure.reported : undefined;
  if (!report || caller === 'passthrough') return outcome;
  const text = argumentHint(tool, args, partsText(report.parts));
  return text === undefined
    ? outcome
    : reportedFailure({ ...report, parts: [...report.parts, { type: 'text', text }] });
};
