import type { Clock } from '../../kernel/clock.ts';
import type { SeeingModelPort } from './create-model-port.ts';
import { loadProvider } from './load-provider.ts';
import type { TierModels } from './tier-models.ts';

/** The port of {@link SeeingModelPort}, whose libraries are loaded with the first question: most processes never ask one. */
export const lazyModelPort = (options: {
  readonly models: TierModels;
  readonly clock: Clock;
  readonly callTimeoutMs: number;
  readonly maxRetries: number;
}): SeeingModelPort => {
  let loading: Promise<SeeingModelPort> | undefined;
  const load = (): Promise<SeeingModelPort> =>
    (loading ??= loadProvider('ai', () => import('./create-model-port.ts')).then(({ createModelPort }) =>
      createModelPort(options),
    ));
  return {
    complete: async (request) => (await load()).complete(request),
    look: async (request) => (await load()).look(request),
  };
};
