import type { CallContext, TraceContext } from '../../tool/context.ts';
import type { TierModel } from '../models/tier-models.ts';
import type { LoopRun } from './loop-run.ts';

/** The context of the calls of a run, on the model that it is on now. */
export const turnContext = (
  run: Pick<LoopRun, 'namespace' | 'workspace' | 'scope' | 'context' | 'signal'>,
  now: {
    readonly model: TierModel;
    readonly trace: TraceContext | undefined;
    /** A question can be handed back only to a run that has the tool to answer it with. */
    readonly answersQuestions: boolean;
  },
): CallContext => {
  const { namespace, workspace, scope, context, signal } = run;
  const { model, trace, answersQuestions } = now;
  return {
    receivesLateResults: true,
    takesContextItems: true,
    // A mode that lists no tools of servers would also refuse those that the run was given by name.
    ...(scope && { wrapperMode: 'lazy', namedTools: new Set(scope) }),
    ...context,
    caller: 'model',
    namespace,
    workspace,
    tier: model.tier,
    model: model.facts,
    trace,
    signal,
    answersQuestions,
  };
};
