import type { CallContext } from '../../tool/context.ts';
import type { ToolRegistration } from '../../tool/registration.ts';
import type { TierModel } from '../models/tier-models.ts';
import type { LoopDeps, LoopRun } from './loop-run.ts';
import { textCallFormat } from './text-call-format.ts';

/** What stands before the messages of a request: who the model is, how servers are used, how calls are written, what was stashed. */
export const systemText = (options: {
  readonly run: Pick<LoopRun, 'systemPrompt' | 'systemTail' | 'scope'>;
  readonly model: TierModel;
  readonly listed: readonly ToolRegistration[];
  /** Calls stand in the model's text. */
  readonly writesCallsAsText: boolean;
  readonly orientation: LoopDeps['orientation'];
  readonly context: CallContext;
  readonly notice: string | undefined;
}): string => {
  const { run, model, listed, writesCallsAsText, orientation, context, notice } = options;
  const isOriented = run.scope === undefined && listed.some(({ source }) => source.startsWith('mcp:'));
  return [
    run.systemPrompt,
    isOriented ? orientation(context) : undefined,
    run.systemTail?.(),
    model.behavior.extraPrompt,
    writesCallsAsText ? textCallFormat(listed) : undefined,
    notice,
  ]
    .filter((part) => part !== undefined && part !== '')
    .join('\n\n');
};
