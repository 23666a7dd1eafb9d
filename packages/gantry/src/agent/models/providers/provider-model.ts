import type { LanguageModel } from 'ai';
import type { TierSettings } from '../model-settings.ts';

/** A model of the AI SDK, as an object. */
export type SdkModel = Exclude<LanguageModel, string>;

/** Settings that are complete: what is needed to reach a model. */
export interface ReachableModel extends TierSettings {
  readonly modelId: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Makes the model behind settings; nothing is sent.
 * @throws {GantryError} `package_missing`
 */
export type OpenModel = (settings: ReachableModel) => Promise<SdkModel>;
