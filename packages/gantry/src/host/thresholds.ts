import type { CallContext } from '../tool/context.ts';
import type { ModelBehaviorsConfig } from './config/config-schema.ts';

/** The longest result a caller's model gets whole, by the longest prefix of its id that is configured; undefined = the default. */
export const chunkingThresholdOf = (behaviors: ModelBehaviorsConfig, context: CallContext): number | undefined => {
  const id = context.model?.id?.toLowerCase();
  if (id === undefined) return undefined;
  let longest = -1;
  let threshold: number | undefined;
  for (const [prefix, behavior] of Object.entries(behaviors.models)) {
    if (prefix.length <= longest || !id.startsWith(prefix.toLowerCase())) continue;
    longest = prefix.length;
    threshold = behavior.toolResultChunkingThreshold;
  }
  return threshold;
};
