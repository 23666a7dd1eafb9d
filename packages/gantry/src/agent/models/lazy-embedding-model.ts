import type { EmbeddingModel as SdkEmbeddingModel } from 'ai';
import type { EmbeddingModel } from '../../tool/embedding-model.ts';
import { loadProvider } from './load-provider.ts';
import type { TierSettings } from './model-settings.ts';
import { accessOf } from './providers/access.ts';
import type { ReachableModel } from './providers/provider-model.ts';
import { reachable } from './tier-models.ts';

/** A model that turns texts into vectors. Anthropic has none. */
export interface EmbeddingSettings extends Pick<TierSettings, 'modelId' | 'endpoint' | 'apiKey' | 'headers'> {
  readonly provider: 'openai' | 'openai-compatible' | 'google' | 'azure';
}

/**
 * The model of these settings, whose libraries are loaded with the first text; undefined when something is missing that is needed to reach
 * it. Its vectors belong to the provider, address and name of the model.
 */
export const lazyEmbeddingModel = (options: {
  readonly settings: EmbeddingSettings | undefined;
  /** For a key that the settings do not hold. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly maxRetries: number;
}): EmbeddingModel | undefined => {
  const settings = options.settings && reachable(options.settings, options.env);
  if (!settings) return undefined;
  let opening: Promise<SdkEmbeddingModel> | undefined;
  return {
    id: [settings.provider, settings.endpoint ?? '', settings.modelId].join(' '),
    embed: async (texts, signal) => {
      const [{ embedMany }, model] = await Promise.all([
        loadProvider('ai', () => import('ai')),
        (opening ??= openers[settings.provider as EmbeddingSettings['provider']](settings)),
      ]);
      const { embeddings } = await embedMany({
        model,
        values: [...texts],
        maxRetries: options.maxRetries,
        abortSignal: signal,
      });
      return embeddings.map((vector) => Float32Array.from(vector));
    },
  };
};

type OpenEmbeddingModel = (settings: ReachableModel) => Promise<SdkEmbeddingModel>;

const openers: Readonly<Record<EmbeddingSettings['provider'], OpenEmbeddingModel>> = {
  openai: async (settings) => {
    const { createOpenAI } = await loadProvider('@ai-sdk/openai', () => import('@ai-sdk/openai'));
    return createOpenAI(accessOf(settings)).embeddingModel(settings.modelId);
  },
  azure: async (settings) => {
    const { createAzure } = await loadProvider('@ai-sdk/azure', () => import('@ai-sdk/azure'));
    return createAzure(accessOf(settings)).embeddingModel(settings.modelId);
  },
  google: async (settings) => {
    const { createGoogle } = await loadProvider('@ai-sdk/google', () => import('@ai-sdk/google'));
    return createGoogle(accessOf(settings)).embeddingModel(settings.modelId);
  },
  'openai-compatible': async (settings) => {
    const { createOpenAICompatible } = await loadProvider(
      '@ai-sdk/openai-compatible',
      () => import('@ai-sdk/openai-compatible'),
    );
    const { endpoint = '' } = settings;
    return createOpenAICompatible({ ...accessOf(settings), name: 'embedding', baseURL: endpoint }).embeddingModel(
      settings.modelId,
    );
  },
};
