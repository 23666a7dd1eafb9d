import { GantryError } from '../../kernel/errors.ts';
import type { ModelFacts, Tier } from '../../tool/context.ts';
import type { ModelBehavior, ModelBehaviors } from './model-behavior.ts';
import { behaviorOf } from './model-behavior.ts';
import type { ModelProvider, ModelsSettings, TierSettings } from './model-settings.ts';
import { keyVariables } from './model-settings.ts';
import type { ModelSlots } from './model-slots.ts';
import { createModelSlots } from './model-slots.ts';
import { openAnthropic } from './providers/anthropic.ts';
import { openAzure } from './providers/azure.ts';
import { openGoogle } from './providers/google.ts';
import { openOpenAiCompatible } from './providers/openai-compatible.ts';
import { openOpenAi } from './providers/openai.ts';
import type { OpenModel, ReachableModel, SdkModel } from './providers/provider-model.ts';

/** A model that a turn can run on. */
export interface TierModel {
  /** The tier whose model it is: the wanted one, or `balanced` in its place. */
  readonly tier: Tier;
  readonly settings: ReachableModel;
  /** What tools may know of it. */
  readonly facts: ModelFacts;
  readonly behavior: ModelBehavior;
  /**
   * The model itself; made at the first use.
   * @throws {GantryError} `package_missing`
   */
  open(): Promise<SdkModel>;
}

/** The models of an agent by tier. */
export interface TierModels {
  /** False: nothing that needs a model can run. */
  readonly isConfigured: boolean;
  /** Of each tier that is set and cannot be reached: what it lacks. */
  readonly incomplete: readonly string[];
  /**
   * The model of a tier; the balanced one where the tier has none that can be reached.
   * @throws {GantryError} `model_missing`
   */
  get(tier: Tier): TierModel;
  /** The model of a tier itself, without a substitute. */
  own(tier: Tier): TierModel | undefined;
  /** Every call of one of them holds a slot. */
  readonly slots: ModelSlots;
}

/** In one line, how to get a model; Ollama first, because it needs no account. */
export const howToConfigure =
  'No model is configured. With Ollama: "ollama pull qwen3", then set "models": {"balanced": {"provider": "openai-compatible", "endpoint": "http://127.0.0.1:11434/v1", "modelId": "qwen3"}} in gantry.config.json; openai, anthropic, google and azure take an apiKey instead of an endpoint.';

/** The sequence in which tiers stand. */
export const tiers: readonly Tier[] = ['low', 'balanced', 'high'];

const openers: Readonly<Record<ModelProvider, OpenModel>> = {
  openai: openOpenAi,
  'openai-compatible': openOpenAiCompatible,
  azure: openAzure,
  anthropic: openAnthropic,
  google: openGoogle,
};

/** Reads which models there are. Nothing is loaded or sent before a model is used. */
export const createTierModels = (options: {
  readonly models: ModelsSettings;
  readonly behaviors?: ModelBehaviors | undefined;
  /** For keys that the settings do not hold. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Makes models in another way, by provider; for tests and for providers of one's own. */
  readonly openers?: Partial<Readonly<Record<ModelProvider, OpenModel>>> | undefined;
}): TierModels => {
  const { models, behaviors = {}, env } = options;
  const known = new Map<Tier, TierModel>();
  const incomplete: string[] = [];
  for (const tier of tiers) {
    const given = models[tier];
    if (!given) continue;
    const settings = reachable(given, env);
    if (settings) known.set(tier, toTierModel(tier, settings));
    else incomplete.push(`${tier} (${given.provider}) lacks ${lackOf(given)}`);
  }

  function toTierModel(tier: Tier, settings: ReachableModel): TierModel {
    // A profile for models that nobody described is more careful than one that somebody wrote.
    const behavior = behaviorOf(behaviors, settings.modelId) ?? { nudgeHallucinatedActions: true };
    let opened: Promise<SdkModel> | undefined;
    return {
      tier,
      settings,
      behavior,
      facts: {
        provider: settings.provider,
        id: settings.modelId,
        capabilities: {
          has_tools: behavior.supportsTools ?? settings.supportsTools ?? true,
          sees_images: settings.supportsImageInput ?? false,
        },
      },
      open: async () => {
        const open = options.openers?.[settings.provider] ?? openers[settings.provider];
        opened ??= open(settings);
        try {
          return await opened;
        } catch (error) {
          opened = undefined;
          throw error;
        }
      },
    };
  }

  return {
    isConfigured: known.size > 0,
    incomplete,
    own: (tier) => known.get(tier),
    slots: createModelSlots(models.maxInFlight),
    get: (tier) => {
      const model = known.get(tier) ?? known.get('balanced') ?? known.get('high') ?? known.get('low');
      if (model) return model;
      const message =
        incomplete.length === 0
          ? howToConfigure
          : `No model can be reached: ${incomplete.join('; ')}. Set it in "models".`;
      throw new GantryError('model_missing', message, { details: { tier } });
    },
  };
};

/** The settings with everything that is needed to reach the model, or undefined when something is missing. */
export const reachable = (
  settings: TierSettings,
  env: Readonly<Record<string, string | undefined>>,
): ReachableModel | undefined => {
  const { provider, modelId, endpoint, headers = {} } = settings;
  if (modelId === undefined) return undefined;
  const variable = keyVariables[provider];
  const apiKey = settings.apiKey ?? (variable === undefined ? undefined : env[variable] || undefined);
  const needsEndpoint = provider === 'openai-compatible' || provider === 'azure';
  if (needsEndpoint && endpoint === undefined) return undefined;
  // A proxy before a hosted provider may add the key itself.
  if (provider !== 'openai-compatible' && apiKey === undefined && endpoint === undefined) return undefined;
  return { ...settings, modelId, headers, apiKey };
};

/** What a model that cannot be reached lacks first. */
const lackOf = ({ provider, modelId, endpoint }: TierSettings): string => {
  if (modelId === undefined) return 'modelId';
  const isOwnEndpoint = provider === 'openai-compatible' || provider === 'azure';
  if (isOwnEndpoint && endpoint === undefined) return 'endpoint';
  return `apiKey, or ${keyVariables[provider]} in the environment`;
};
