import { generateText } from 'ai';
import type { Clock } from '../../kernel/clock.ts';
import { startDeadline } from '../../kernel/abort.ts';
import { GantryError } from '../../kernel/errors.ts';
import type { ModelPort } from '../../tool/model-port.ts';
import { toModelError } from './model-error.ts';
import type { TierModel, TierModels } from './tier-models.ts';

/** What a picture that a model is to look at consists of. */
export interface ModelFile {
  readonly data: Uint8Array;
  readonly mediaType: string;
}

/** A model that also looks at files. */
export interface SeeingModelPort extends ModelPort {
  /**
   * Like {@link ModelPort.complete}, with files beside the prompt. The tier's own model is asked, and no other in its place.
   * @throws {GantryError} `model_missing`, `model_failed`, `timeout`, `cancelled`
   */
  look(request: Parameters<ModelPort['complete']>[0] & { readonly files: readonly ModelFile[] }): Promise<string>;
}

const cancelled = (cause: unknown): never => {
  throw new GantryError('cancelled', 'The question to the model was cancelled.', { cause });
};

/** Makes the port through which rooms ask a model one thing. A call that fails on the low or high tier is made once more on the balanced. */
export const createModelPort = (options: {
  readonly models: TierModels;
  readonly clock: Clock;
  readonly callTimeoutMs: number;
  readonly maxRetries: number;
}): SeeingModelPort => {
  const { models, clock, callTimeoutMs, maxRetries } = options;

  const ask = async (
    model: TierModel,
    {
      system,
      prompt,
      signal,
      maxOutputTokens,
      isBackground,
      files = [],
    }: Parameters<ModelPort['complete']>[0] & { readonly files?: readonly ModelFile[] },
  ): Promise<string> => {
    const { settings } = model;
    const caps = [settings.maxOutputTokens, maxOutputTokens].filter((one) => one !== undefined);
    const cap = caps.length > 0 ? Math.min(...caps) : undefined;
    // Waiting is no silence of the model.
    using _slot = await models.slots.take({ isBackground, signal }).catch(cancelled);
    using deadline = startDeadline(clock, callTimeoutMs || 3_600_000, { signal, keepsAlive: true });
    try {
      const { text } = await generateText({
        model: await model.open(),
        instructions: system,
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: prompt },
              ...files.map(({ data, mediaType }) => ({ type: 'file' as const, data, mediaType })),
            ],
          },
        ],
        maxRetries,
        abortSignal: deadline.signal,
        ...(cap !== undefined && { maxOutputTokens: cap }),
        ...(settings.temperature !== undefined && { temperature: settings.temperature }),
      });
      return text;
    } catch (error) {
      if (signal.aborted) return cancelled(error);
      if (deadline.expired())
        throw new GantryError('timeout', `The model "${settings.modelId}" gave no answer within ${callTimeoutMs} ms.`, {
          details: { timeoutMs: callTimeoutMs },
        });
      throw toModelError(error, settings);
    }
  };

  return {
    complete: async (request) => {
      const model = models.get(request.tier);
      try {
        return await ask(model, request);
      } catch (error) {
        const other = models.own('balanced');
        if (request.signal.aborted || model.tier === 'balanced' || !other) throw error;
        return ask(other, request);
      }
    },
    look: async (request) => {
      const model = models.own(request.tier);
      if (model) return ask(model, request);
      throw new GantryError('model_missing', `No model of tier "${request.tier}" is configured.`, {
        details: { tier: request.tier },
      });
    },
  };
};
