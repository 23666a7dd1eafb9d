import type { ContentPart, FinishReason, ModelMessage, ToolSet } from 'ai';
import { NoSuchToolError, isStepCount, streamText, wrapLanguageModel } from 'ai';
import { abortReason } from '../../kernel/abort.ts';
import type { Clock } from '../../kernel/clock.ts';
import { GantryError } from '../../kernel/errors.ts';
import type { NewId } from '../../kernel/ids.ts';
import { toModelError } from '../models/model-error.ts';
import type { ModelSlots } from '../models/model-slots.ts';
import type { TierModel } from '../models/tier-models.ts';
import type { TraceContext } from '../../tool/context.ts';
import { joinedItems } from './context-items.ts';
import { boundedArguments } from './bounded-arguments.ts';
import type { OnLoopEvent } from './loop-events.ts';
import type { LoopLimits } from './loop-run.ts';
import type { LoopTelemetry } from './loop-telemetry.ts';
import type { SaidPart, Step } from './step.ts';
import type { TurnTools, WrittenCall } from './turn-tools.ts';
import { watchedAttempts } from './watched-attempts.ts';

/** One request to a model. */
export interface ModelRequest {
  readonly model: TierModel;
  readonly instructions: string;
  readonly messages: readonly ModelMessage[];
  /** Absent: the model is to answer without calling anything. */
  readonly tools?: TurnTools | undefined;
  /** Of the turn that it belongs to. */
  readonly trace?: TraceContext | undefined;
  readonly signal: AbortSignal;
  readonly onEvent: OnLoopEvent;
}

/** Sends one request and streams its answer; no call of a tool runs. */
export type AskModel = (request: ModelRequest) => Promise<Step>;

/**
 * Makes the function that asks a model once.
 * @throws {GantryError} (from the function) `model_failed`, `package_missing`; `timeout` when nothing comes for too long; the reason of an abort.
 */
export const createAskModel =
  (options: {
    readonly slots: ModelSlots;
    readonly clock: Clock;
    readonly newId: NewId;
    readonly limits: LoopLimits;
    readonly telemetry: Pick<LoopTelemetry, 'chat'>;
  }): AskModel =>
  async ({ model, instructions, messages, tools, trace, signal, onEvent }) => {
    const { slots, clock, newId, limits, telemetry } = options;
    const { settings } = model;
    // Waiting is no silence of the model.
    using _slot = await slots.take({ signal });
    const span = telemetry.chat(model, trace);
    using silence = startSilence(clock, limits.callTimeoutMs, signal, settings.modelId);
    let hasBegun = false;
    try {
      const result = streamText({
        model: wrapLanguageModel({
          model: await model.open(),
          middleware: [
            boundedArguments,
            watchedAttempts(model, { onAttempt: silence.broken, onRefused: silence.paused }),
          ],
        }),
        instructions: {
          role: 'system',
          content: instructions,
          providerOptions: cacheMark,
        },
        messages: withCacheMark(joinedItems(messages)),
        ...(tools && Object.keys(tools.set).length > 0 && { tools: tools.set }),
        ...(tools && {
          repairToolCall: async ({ toolCall, error }) =>
            NoSuchToolError.isInstance(error) && tools.admit(toolCall.toolName) ? toolCall : null,
        }),
        stopWhen: isStepCount(1),
        maxRetries: limits.maxRetries,
        abortSignal: silence.signal,
        ...(settings.maxOutputTokens !== undefined && { maxOutputTokens: settings.maxOutputTokens }),
        ...(settings.temperature !== undefined && { temperature: settings.temperature }),
        // Errors are parts of the stream too; the default writes them to the console.
        onError: () => {},
      });
      let finishReason: FinishReason = 'other';
      let streamedChars = 0;
      for await (const part of result.stream) {
        silence.broken();
        switch (part.type) {
          case 'text-delta':
          case 'reasoning-delta':
            hasBegun = true;
            streamedChars += part.text.length;
            if (streamedChars > maxAnswerChars) throw runaway(model);
            if (part.text !== '') onEvent({ type: part.type === 'text-delta' ? 'text' : 'reasoning', text: part.text });
            break;
          case 'tool-input-delta':
            hasBegun = true;
            streamedChars += part.delta.length;
            if (streamedChars > maxAnswerChars) throw runaway(model);
            break;
          case 'error':
            throw part.error;
          case 'abort':
            throw abortReason(silence.signal);
          case 'finish':
            finishReason = part.finishReason;
            break;
          default:
            break;
        }
      }
      const [content, usage] = await Promise.all([result.content, result.usage]);
      const calls = callsIn(content, newId);
      const step: Step = {
        text: content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(''),
        calls,
        isCutOff: finishReason === 'length' || finishReason === 'content-filter' || finishReason === 'error',
        finishReason,
        parts: partsIn(content),
        usage: {
          inputTokens: usage.inputTokens ?? 0,
          outputTokens: usage.outputTokens ?? 0,
          cachedTokens: usage.inputTokenDetails.cacheReadTokens ?? 0,
        },
      };
      span.end({ usage: step.usage });
      return step;
    } catch (thrown) {
      const error = silence.signal.aborted ? abortReason(silence.signal) : toModelError(thrown, settings, { hasBegun });
      // What still comes is wanted no more, and the connection would stay.
      silence.end(error);
      span.end({ error });
      throw error;
    }
  };

/** Anthropic caches what stands before a mark; the others find it by themselves. */
const cacheMark = { anthropic: { cacheControl: { type: 'ephemeral' } } };

/** Marks the end of the conversation, which the next request of the turn begins with. */
const withCacheMark = (messages: readonly ModelMessage[]): ModelMessage[] =>
  messages.map((message, at) =>
    at === messages.length - 1
      ? { ...message, providerOptions: { ...message.providerOptions, ...cacheMark } }
      : message,
  );

/** No answer is that long; a model that got into a loop would go on for ever, and cost. */
const maxAnswerChars = 1_000_000;

const runaway = ({ settings: { modelId, provider } }: TierModel): GantryError =>
  new GantryError(
    'model_failed',
    `The model "${modelId}" did not come to an end: its answer had more than ${maxAnswerChars} characters.`,
    { details: { provider, model: modelId } },
  );

/** Aborts when a model sends nothing for too long, or when the caller does. */
const startSilence = (clock: Clock, timeoutMs: number, outer: AbortSignal, modelId: string) => {
  const controller = new AbortController();
  const onAbort = (): void => controller.abort(outer.reason);
  if (outer.aborted) onAbort();
  else outer.addEventListener('abort', onAbort, { once: true });
  const giveUp = (): void =>
    controller.abort(
      new GantryError('timeout', `The model "${modelId}" sent nothing for ${timeoutMs} ms.`, {
        details: { timeoutMs },
      }),
    );
  const start = () => (timeoutMs > 0 ? clock.startTimer(timeoutMs, giveUp, { keepsAlive: true }) : undefined);
  let timer = start();
  return {
    signal: controller.signal,
    end: (reason: GantryError): void => controller.abort(reason),
    /** Until something comes, or is asked for, again. */
    paused: (): void => timer?.stop(),
    broken: (): void => {
      timer?.stop();
      timer = start();
    },
    [Symbol.dispose]: (): void => {
      timer?.stop();
      outer.removeEventListener('abort', onAbort);
    },
  };
};

const callsIn = (content: readonly ContentPart<ToolSet>[], newId: NewId): readonly WrittenCall[] => {
  const ids = new Set<string>();
  return content.flatMap((part) => {
    if (part.type !== 'tool-call' || part.providerExecuted) return [];
    // Some models repeat ids, and some providers take only these characters back.
    const given = part.toolCallId.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 64);
    const id = given === '' || ids.has(given) ? `call_${newId().slice(0, 16)}` : given;
    ids.add(id);
    return [{ id, name: part.toolName, input: part.input as unknown, options: part.providerMetadata }];
  });
};

const partsIn = (content: readonly ContentPart<ToolSet>[]): readonly SaidPart[] =>
  content.flatMap((part): SaidPart[] => {
    const providerOptions = 'providerMetadata' in part ? part.providerMetadata : undefined;
    switch (part.type) {
      case 'text':
        return isBlank(part.text, providerOptions)
          ? []
          : [{ type: 'text', text: part.text, ...(providerOptions && { providerOptions }) }];
      case 'reasoning':
        return [{ type: 'reasoning', text: part.text, ...(providerOptions && { providerOptions }) }];
      default:
        return [];
    }
  });

/** Anthropic refuses blank text in a history; one with a mark of its provider is a reference there, or holds a thought. */
const isBlank = (text: string, mark: unknown): boolean => text === '' || (mark === undefined && text.trim() === '');
