import { GantryError } from '../../../kernel/errors.ts';
import { loadProvider } from '../load-provider.ts';
import type { OpenModel } from './provider-model.ts';

/** A model behind any endpoint that speaks OpenAI's chat completions: Ollama, vLLM, LM Studio, OpenRouter … */
export const openOpenAiCompatible: OpenModel = async ({ modelId, endpoint, apiKey, headers }) => {
  const { createOpenAICompatible } = await loadProvider(
    '@ai-sdk/openai-compatible',
    () => import('@ai-sdk/openai-compatible'),
  );
  if (endpoint === undefined)
    throw new GantryError('config_invalid', 'A model of provider "openai-compatible" needs an endpoint.');
  const provider = createOpenAICompatible({
    name: 'openai-compatible',
    baseURL: endpoint,
    ...(apiKey !== undefined && { apiKey }),
    headers,
    includeUsage: true,
  });
  return provider(modelId);
};
