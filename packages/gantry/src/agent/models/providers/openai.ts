import { loadProvider } from '../load-provider.ts';
import type { OpenModel } from './provider-model.ts';

/** A model of OpenAI, over the Responses interface unless the settings say otherwise. */
export const openOpenAi: OpenModel = async ({ modelId, endpoint, apiKey, headers, api }) => {
  const { createOpenAI } = await loadProvider('@ai-sdk/openai', () => import('@ai-sdk/openai'));
  const provider = createOpenAI({
    ...(endpoint !== undefined && { baseURL: endpoint }),
    ...(apiKey !== undefined && { apiKey }),
    headers,
  });
  return api === 'chat' ? provider.chat(modelId) : provider.responses(modelId);
};
