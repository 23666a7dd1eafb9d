import { GantryError } from '../../../kernel/errors.ts';
import { loadProvider } from '../load-provider.ts';
import { accessOf } from './access.ts';
import type { OpenModel } from './provider-model.ts';

/** A model behind any endpoint that speaks OpenAI's chat completions: Ollama, vLLM, LM Studio, OpenRouter … */
export const openOpenAiCompatible: OpenModel = async (settings) => {
  const { createOpenAICompatible } = await loadProvider(
    '@ai-sdk/openai-compatible',
    () => import('@ai-sdk/openai-compatible'),
  );
  const { endpoint, modelId } = settings;
  if (endpoint === undefined)
    throw new GantryError('config_invalid', 'A model of provider "openai-compatible" needs an endpoint.');
  const provider = createOpenAICompatible({
    name: 'openai-compatible',
    ...accessOf(settings),
    baseURL: endpoint,
    includeUsage: true,
  });
  return provider(modelId);
};
