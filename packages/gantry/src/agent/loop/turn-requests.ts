import type { ModelMessage } from 'ai';
import type { CallContext, TraceContext } from '../../tool/context.ts';
import type { ToolRegistration } from '../../tool/registration.ts';
import { isRefusal } from '../models/model-error.ts';
import type { TierModel } from '../models/tier-models.ts';
import type { AskModel } from './ask-model.ts';
import type { KnownLimits, RecoveredStep } from './ask-with-recovery.ts';
import { createAskWithRecovery } from './ask-with-recovery.ts';
import { withoutShown } from './context-items.ts';
import { createFitMessages } from './fit-messages.ts';
import type { OnLoopEvent } from './loop-events.ts';
import type { LoopDeps, LoopRun, TokenUsage } from './loop-run.ts';
import { toPlainMessages } from './plain-messages.ts';
import type { Step } from './step.ts';
import { systemText } from './system-text.ts';
import type { TurnTools } from './turn-tools.ts';

/** The requests of one turn to its models. */
export interface TurnRequests {
  /** Tokens of all requests so far. */
  readonly usage: TokenUsage;
  /** What the model can call now: in its own way, or by writing it as text. */
  callable(): readonly ToolRegistration[];
  /** Asks the model; gives its answer, and the messages as they were sent. */
  ask(
    messages: readonly ModelMessage[],
    withTools: boolean,
  ): Promise<{ readonly step: Step; readonly sent: readonly ModelMessage[] }>;
}

/** What the requests of a turn are made with. */
export interface TurnRequestsOptions {
  readonly run: LoopRun;
  readonly trace: TraceContext | undefined;
  readonly tools: TurnTools;
  readonly isWanted: (tool: ToolRegistration) => boolean;
  readonly ask: AskModel;
  readonly knownLimits: KnownLimits;
  readonly contextOf: () => CallContext;
  /** The model that the turn is on now. */
  readonly modelOf: () => TierModel;
  /** Moves the turn to another. */
  readonly use: (model: TierModel) => void;
  readonly onEvent: OnLoopEvent;
}

/** Makes what sends the requests of a turn. */
export const createTurnRequests = (deps: LoopDeps, options: TurnRequestsOptions): TurnRequests => {
  const { models, toolsets, orientation, log } = deps;
  const { run, trace, tools, isWanted, contextOf, modelOf, onEvent } = options;
  let usage: TokenUsage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 };

  const writesCallsAsText = ({ behavior, facts }: TierModel): boolean =>
    behavior.textToolCalls === true && facts.capabilities?.['has_tools'] === false;
  const callable = (): readonly ToolRegistration[] => {
    const model = modelOf();
    if (!writesCallsAsText(model)) return tools.listed;
    const capabilities = { ...model.facts.capabilities, has_tools: true };
    return toolsets
      .for({ ...contextOf(), model: { ...model.facts, capabilities } })
      .tools.filter((tool) => isWanted(tool) && !tools.retired.has(tool.name));
  };
  const fit = createFitMessages({
    stash: deps.stash,
    namespace: run.namespace,
    isExempt: (name) => callable().some((tool) => tool.name === name && tool.returnsStored === true),
    isLast: (name) => callable().some((tool) => tool.name === name && tool.source === 'files'),
  });
  const recover = createAskWithRecovery({
    ask: options.ask,
    models,
    limits: options.knownLimits,
    fit,
    log,
    onModel: options.use,
  });
  const instructions = (): string =>
    systemText({
      run,
      model: modelOf(),
      listed: callable(),
      writesCallsAsText: writesCallsAsText(modelOf()),
      orientation,
      context: contextOf(),
      notice: fit.notice(),
    });

  /** What a model can read: some providers refuse calls in a history without tools, and pictures for a model that does not see. */
  const adapt = (
    { facts: { capabilities = {} } }: TierModel,
    said: readonly ModelMessage[],
  ): readonly ModelMessage[] => {
    const seen = capabilities['sees_images'] === true ? said : withoutShown(said, blindReason);
    return capabilities['has_tools'] === false ? toPlainMessages(seen) : seen;
  };
  const send = (messages: readonly ModelMessage[], withTools: boolean): Promise<RecoveredStep> =>
    recover(modelOf(), {
      messages,
      adapt,
      instructions,
      tools: withTools ? tools : undefined,
      trace,
      signal: run.signal,
      onEvent,
    });

  return {
    get usage() {
      return usage;
    },
    callable,
    ask: async (given, withTools) => {
      const { step, messages: sent } = await send(given, withTools).catch((error: unknown) => {
        const less = isRefusal(error) ? withoutShown(given, refusedReason) : given;
        if (less === given) throw error;
        onEvent({ type: 'again', reason: 'the provider refused the request, so it is sent without its pictures' });
        return send(less, withTools);
      });
      usage = {
        inputTokens: usage.inputTokens + step.usage.inputTokens,
        outputTokens: usage.outputTokens + step.usage.outputTokens,
        cachedTokens: usage.cachedTokens + step.usage.cachedTokens,
      };
      return { step, sent };
    },
  };
};

const blindReason = 'the model that answers now cannot see; say so, or let a tool look that answers in words';
const refusedReason = 'the provider of the model refused the request that held it';
