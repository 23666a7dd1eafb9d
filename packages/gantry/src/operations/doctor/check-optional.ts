import type { TierModels } from '../../agent/models/tier-models.ts';
import { howToConfigure, tiers } from '../../agent/models/tier-models.ts';
import type { DoctorCheck } from './doctor-report.ts';

/** Where the configuration comes from; it could be read. */
export const checkConfiguration = (file: string | undefined): DoctorCheck => ({
  name: 'configuration',
  state: 'ok',
  message: file ?? 'no file, all defaults',
});

/** Whether pages can be rendered here; without a browser they are read as they are sent. */
export const checkBrowser = (path: string | undefined): DoctorCheck => ({
  name: 'browser',
  state: 'ok',
  message: path ?? 'none found; pages that need one to be read are read as they are sent',
});

/** Which models the agent has; without one everything but the agent works. Nothing is sent to them. */
export const checkModels = (models: TierModels | undefined): DoctorCheck => {
  const known = tiers.flatMap((tier) => {
    const model = models?.own(tier);
    return model ? [`${tier}: ${model.settings.modelId} (${model.settings.provider})`] : [];
  });
  const incomplete = models?.incomplete ?? [];
  if (incomplete.length > 0)
    return {
      name: 'models',
      state: 'warning',
      message: [...known, ...incomplete].join(', '),
      fix: 'Set what is missing in "models" of the configuration, or take the tier out; it counts as not there.',
    };
  return { name: 'models', state: 'ok', message: known.length > 0 ? known.join(', ') : howToConfigure };
};
