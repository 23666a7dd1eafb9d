import type { ModelMessage } from 'ai';
import { GantryError, messageOf } from '../../kernel/errors.ts';
import type { Log } from '../../kernel/log.ts';
import type { Overflow } from '../models/model-error.ts';
import { isIncompleteAnswer, overflowOf } from '../models/model-error.ts';
import type { TierModel, TierModels } from '../models/tier-models.ts';
import type { AskModel, ModelRequest } from './ask-model.ts';
import type { FitMessages } from './fit-messages.ts';
import { lengthOf } from './fit-messages.ts';
import type { Step } from './step.ts';

/** What models were found to take, by id, in tokens; outlives turns. */
export type KnownLimits = Map<string, number>;

/** A request before it is known on which model it ends. */
export interface RecoverableRequest extends Omit<ModelRequest, 'model' | 'messages' | 'instructions'> {
  readonly messages: readonly ModelMessage[];
  /** Puts the messages into the form that a model reads. */
  readonly adapt: (model: TierModel, messages: readonly ModelMessage[]) => readonly ModelMessage[];
  /** Asked again before each attempt, because stashing adds to it. */
  readonly instructions: () => string;
}

/** An answer, the model that gave it, and the messages as they were sent. */
export interface RecoveredStep {
  readonly step: Step;
  readonly model: TierModel;
  readonly messages: readonly ModelMessage[];
}

const charsPerToken = 4;
const safety = 0.9;
/** When a provider says that it is too much, and not how much. */
const blindShare = 0.6;

/**
 * Asks a model, and gets over what can be got over: an answer that stopped for no known reason is asked for once more; a request that was too
 * long is shortened and sent once more; a call that fails on the low or high tier is made once more on the balanced one.
 */
export const createAskWithRecovery = (options: {
  readonly ask: AskModel;
  readonly models: TierModels;
  readonly limits: KnownLimits;
  readonly fit: FitMessages;
  readonly log: Log;
  /** Told when the request moves to another model; may change what is asked. */
  readonly onModel: (model: TierModel) => void;
}): ((model: TierModel, request: RecoverableRequest) => Promise<RecoveredStep>) => {
  const { ask, models, limits, fit, log, onModel } = options;

  const limitOf = ({ settings }: TierModel): number | undefined =>
    limits.get(settings.modelId) ?? settings.contextTokens;

  const shortened = async (
    model: TierModel,
    request: RecoverableRequest,
    overflow?: Overflow,
  ): Promise<readonly ModelMessage[]> => {
    const { shortenAboveTokens, maxShownResultChars } = model.behavior;
    const messages =
      maxShownResultChars === undefined ? request.messages : await fit.cap(request.messages, maxShownResultChars);
    const limit = limitOf(model);
    const fixed = request.instructions().length + toolsLength(request);
    const budgets = limit === undefined ? [] : [limit * charsPerToken * safety - fixed];
    if (shortenAboveTokens !== undefined) budgets.push(shortenAboveTokens * charsPerToken - fixed);
    if (overflow) {
      const { maxTokens, usedTokens } = overflow;
      const share =
        maxTokens !== undefined && usedTokens !== undefined && usedTokens > 0
          ? (maxTokens / usedTokens) * safety
          : blindShare;
      // What the provider counted is worth more than an estimate.
      if (share < 1) budgets.push((lengthOf(messages) + fixed) * share - fixed);
    }
    return budgets.length === 0 ? messages : fit.fit(messages, Math.max(0, Math.min(...budgets)));
  };

  const attempt = async (model: TierModel, given: RecoverableRequest): Promise<RecoveredStep> => {
    const request = { ...given, messages: given.adapt(model, given.messages) };
    const send = async (messages: readonly ModelMessage[]): Promise<RecoveredStep> => {
      const step = await ask({ ...request, model, messages, instructions: request.instructions() });
      return { step, model, messages };
    };
    const messages = await shortened(model, request);
    try {
      const answered = await send(messages);
      if (answered.step.finishReason !== 'other' && answered.step.finishReason !== 'error') return answered;
      request.onEvent({ type: 'again', reason: 'the answer stopped for no known reason' });
      return await send(messages);
    } catch (error) {
      if (isIncompleteAnswer(error)) {
        request.onEvent({ type: 'again', reason: 'the answer broke off' });
        return send(messages);
      }
      const overflow = overflowOf(error);
      if (!overflow) throw error;
      if (overflow.maxTokens !== undefined) limits.set(model.settings.modelId, overflow.maxTokens);
      const shorter = await shortened(model, { ...request, messages }, overflow);
      if (lengthOf(shorter) >= lengthOf(messages)) throw error;
      request.onEvent({ type: 'again', reason: 'the conversation was too long for the model and has been shortened' });
      return send(shorter);
    }
  };

  return async (model, request) => {
    try {
      return await attempt(model, request);
    } catch (error) {
      const other = models.own('balanced');
      const isFailure =
        GantryError.is(error) &&
        (error.code === 'model_failed' || error.code === 'timeout' || error.code === 'package_missing');
      if (!isFailure || request.signal.aborted || model.tier === 'balanced' || !other) throw error;
      log.warn(
        { tier: model.tier, reason: messageOf(error) },
        'a model failed; the turn goes on with the balanced one',
      );
      request.onEvent({ type: 'again', reason: `the ${model.tier} model failed: ${messageOf(error)}` });
      onModel(other);
      return attempt(other, request);
    }
  };
};

const toolsLength = ({ tools }: RecoverableRequest): number => {
  let sum = 0;
  for (const { description, inputSchema, name } of tools?.listed ?? [])
    sum += name.length + description.length + JSON.stringify(inputSchema).length;
  return sum;
};
