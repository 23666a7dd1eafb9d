import { loadProvider } from '../load-provider.ts';
import { accessOf } from './access.ts';
import type { OpenModel } from './provider-model.ts';

/** A model of Google's Gemini interface. */
export const openGoogle: OpenModel = async (settings) => {
  const { createGoogle } = await loadProvider('@ai-sdk/google', () => import('@ai-sdk/google'));
  const provider = createGoogle(accessOf(settings));
  return provider(settings.modelId);
};
