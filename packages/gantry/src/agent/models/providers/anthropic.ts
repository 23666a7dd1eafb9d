import { loadProvider } from '../load-provider.ts';
import { accessOf } from './access.ts';
import type { OpenModel } from './provider-model.ts';

/** A model of Anthropic. */
export const openAnthropic: OpenModel = async (settings) => {
  const { createAnthropic } = await loadProvider('@ai-sdk/anthropic', () => import('@ai-sdk/anthropic'));
  const provider = createAnthropic(accessOf(settings));
  return provider(settings.modelId);
};
