import { loadProvider } from '../load-provider.ts';
import type { OpenModel } from './provider-model.ts';

/** A model of Google's Gemini interface. */
export const openGoogle: OpenModel = async ({ modelId, endpoint, apiKey, headers }) => {
  const { createGoogle } = await loadProvider('@ai-sdk/google', () => import('@ai-sdk/google'));
  const provider = createGoogle({
    ...(endpoint !== undefined && { baseURL: endpoint }),
    ...(apiKey !== undefined && { apiKey }),
    headers,
  });
  return provider(modelId);
};
