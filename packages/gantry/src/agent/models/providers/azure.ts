import { loadProvider } from '../load-provider.ts';
import type { OpenModel } from './provider-model.ts';

/** A deployment of Azure OpenAI; `endpoint` is its base address, such as `https://{resource}.openai.azure.com/openai`. */
export const openAzure: OpenModel = async ({ modelId, endpoint, apiKey, headers, api }) => {
  const { createAzure } = await loadProvider('@ai-sdk/azure', () => import('@ai-sdk/azure'));
  const provider = createAzure({
    ...(endpoint !== undefined && { baseURL: endpoint }),
    ...(apiKey !== undefined && { apiKey }),
    headers,
  });
  return api === 'chat' ? provider.chat(modelId) : provider.responses(modelId);
};
