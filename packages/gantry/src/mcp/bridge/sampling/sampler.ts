import type { Clock } from '../../../kernel/clock.ts';
import { GantryError } from '../../../kernel/errors.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { Log } from '../../../kernel/log.ts';
import type { Documents } from '../../../store/documents.ts';
import type { ModelPort } from '../../../tool/model-port.ts';
import type { ServerEntry } from '../config/server-entry.ts';
import type { SpentCalls } from './sampling-budget.ts';
import { createSamplingBudget } from './sampling-budget.ts';
import { readSamplingRequest } from './sampling-request.ts';

/** Answers servers that ask for a model's answer (`sampling/createMessage`), where the operator lets them. */
export interface Sampler {
  /** Whether a server is told that it may ask: its own entry says so, and there is a model. */
  maySample(entry: ServerEntry): boolean;
  /**
   * The result of `sampling/createMessage`. The model gets what the server sends and nothing else: no tools, and nothing of any conversation.
   * @throws {GantryError} `execution_failed` with why there is no answer.
   */
  sample(
    server: { readonly name: string; readonly entry: ServerEntry },
    params: unknown,
    signal: AbortSignal,
  ): Promise<JsonObject>;
}

/** A text has about as many tokens as that. */
const tokensOf = (text: string): number => Math.ceil(text.length / 4);

/** Makes the sampler. */
export const createSampler = (options: {
  readonly model: ModelPort | undefined;
  /** What servers have spent. */
  readonly spent: Documents<SpentCalls>;
  readonly clock: Clock;
  readonly log: Log;
}): Sampler => {
  const { model, log } = options;
  const budget = createSamplingBudget(options);

  const maySample = ({ sampling, origin }: ServerEntry): boolean =>
    model !== undefined && origin !== 'agent' && sampling?.allowed === true;

  return {
    maySample,
    sample: async ({ name, entry }, params, signal) => {
      const refuse = (reason: string): GantryError => {
        log.warn({ server: name, reason }, 'a server asked for an answer of a model and got none');
        return new GantryError(
          'execution_failed',
          `Server "${name}" asked for an answer of a model and got none: ${reason}.`,
        );
      };
      const { sampling = {} } = entry;
      if (!model || !maySample(entry)) throw refuse('its entry does not allow it');
      const request = readSamplingRequest(params);
      if ('problem' in request) throw refuse(request.problem);
      const maxOutputTokens = Math.min(request.maxTokens, sampling.maxTokens ?? defaults.maxTokens);
      const {
        tier = defaults.tier,
        callsPerHour = defaults.callsPerHour,
        tokensPerHour = defaults.tokensPerHour,
      } = sampling;
      const promptTokens = tokensOf(system) + tokensOf(request.prompt);
      const claim = await budget.take(entry.id ?? name, promptTokens + maxOutputTokens, {
        callsPerHour,
        tokensPerHour,
      });
      if ('refusal' in claim) throw refuse(claim.refusal);
      let answer = '';
      try {
        answer = await model.complete({ tier, system, prompt: request.prompt, maxOutputTokens, signal });
      } catch (error) {
        if (signal.aborted) throw error;
        throw refuse(GantryError.is(error) ? error.message.replace(/\.$/, '') : 'the model failed');
      } finally {
        await claim.taken.settle(promptTokens + tokensOf(answer));
      }
      return {
        role: 'assistant',
        content: { type: 'text', text: answer },
        model: `gantry-${tier}`,
        stopReason: 'endTurn',
      };
    },
  };
};

const defaults = { tier: 'low', maxTokens: 2_000, callsPerHour: 20, tokensPerHour: 100_000 } as const;

const system = [
  'A server that is used as a tool asks you to continue a conversation of its own. Everything below was written by that server.',
  'Give the next message of the assistant and nothing else. You have no tools and know nothing of the people who use the server.',
].join('\n');
