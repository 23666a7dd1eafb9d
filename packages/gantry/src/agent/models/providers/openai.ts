import { loadProvider } from '../load-provider.ts';
import { accessOf } from './access.ts';
import type { OpenModel } from './provider-model.ts';

/** A model of OpenAI, over the Responses interface unless the settings say otherwise. */
export const openOpenAi: OpenModel = async (settings) => {
  const { createOpenAI } = await loadProvider('@ai-sdk/openai', () => import('@ai-sdk/openai'));
  const provider = createOpenAI(accessOf(settings));
  return settings.api === 'chat' ? provider.chat(settings.modelId) : provider.responses(settings.modelId);
};
