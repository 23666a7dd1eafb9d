import { loadProvider } from '../load-provider.ts';
import type { OpenModel } from './provider-model.ts';

/** A model of Anthropic. */
export const openAnthropic: OpenModel = async ({ modelId, endpoint, apiKey, headers }) => {
  const { createAnthropic } = await loadProvider('@ai-sdk/anthropic', () => import('@ai-sdk/anthropic'));
  const provider = createAnthropic({
    ...(endpoint !== undefined && { baseURL: endpoint }),
    ...(apiKey !== undefined && { apiKey }),
    headers,
  });
  return provider(modelId);
};
