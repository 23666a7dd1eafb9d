import { loadProvider } from '../load-provider.ts';
import { accessOf } from './access.ts';
import type { OpenModel } from './provider-model.ts';

/** A deployment of Azure OpenAI; `endpoint` is its base address, such as `https://{resource}.openai.azure.com/openai`. */
export const openAzure: OpenModel = async (settings) => {
  const { createAzure } = await loadProvider('@ai-sdk/azure', () => import('@ai-sdk/azure'));
  const provider = createAzure(accessOf(settings));
  return settings.api === 'chat' ? provider.chat(settings.modelId) : provider.responses(settings.modelId);
};
