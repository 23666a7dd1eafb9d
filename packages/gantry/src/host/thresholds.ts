import { behaviorOf } from '../agent/models/model-behavior.ts';
import type { CallContext } from '../tool/context.ts';
import type { ModelBehaviorsConfig } from './config/models-config.ts';

/** The longest result a caller's model gets whole, by the longest prefix of its id that is configured; undefined = the default. */
export const chunkingThresholdOf = (behaviors: ModelBehaviorsConfig, context: CallContext): number | undefined =>
  behaviorOf(behaviors.models, context.model?.id)?.toolResultChunkingThreshold;
