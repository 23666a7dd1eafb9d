import type { Tier } from '../../tool/context.ts';

/** Which kind of endpoint a model is behind. */
export type ModelProvider = 'openai' | 'openai-compatible' | 'azure' | 'anthropic' | 'google';

/** The model of one tier. */
export interface TierSettings {
  readonly provider: ModelProvider;
  /** The provider's own name of the model; with Azure the name of the deployment. */
  readonly modelId?: string | undefined;
  /** Base address of the API; needed by `openai-compatible` and `azure`, for the others only where a proxy stands between. */
  readonly endpoint?: string | undefined;
  /** Default: the variable that the provider's own tools read, such as `OPENAI_API_KEY`. */
  readonly apiKey?: string | undefined;
  /** Further HTTP headers of each request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Which of OpenAI's two interfaces is spoken; default `responses`. Only `openai` and `azure`. */
  readonly api?: 'responses' | 'chat' | undefined;
  /** The model takes images. Default false. */
  readonly supportsImageInput?: boolean | undefined;
  /** The model calls tools; default true. False: it is shown none, and answers from what it knows. */
  readonly supportsTools?: boolean | undefined;
  /** Tokens that fit into one request, where that is known; longer ones are shortened before they are sent. */
  readonly contextTokens?: number | undefined;
  /** The most tokens of one answer; default the provider's. */
  readonly maxOutputTokens?: number | undefined;
  /** Default the provider's. */
  readonly temperature?: number | undefined;
}

/** The models of an agent. */
export interface ModelsSettings extends Readonly<Partial<Record<Tier, TierSettings | undefined>>> {
  /** How long a model may send nothing before the call is given up; default 90,000, 0 = for ever. */
  readonly callTimeoutMs?: number | undefined;
  /** The most calls of models at once, of all tiers together; default no limit. */
  readonly maxInFlight?: number | undefined;
  /** How often a call is sent again after a rate limit or a failure of the provider's; default 2. */
  readonly maxRetries?: number | undefined;
  /** Scores from which on a turn goes to the balanced and the high tier; default 0.15 and 0.46. */
  readonly tierThresholds?: { readonly low?: number | undefined; readonly balanced?: number | undefined } | undefined;
}

/** Variables that hold a provider's key where the settings have none. */
export const keyVariables: Readonly<Record<ModelProvider, string | undefined>> = {
  openai: 'OPENAI_API_KEY',
  'openai-compatible': undefined,
  azure: 'AZURE_API_KEY',
  anthropic: 'ANTHROPIC_API_KEY',
  google: 'GOOGLE_GENERATIVE_AI_API_KEY',
};
