import { expect, it } from 'vitest';
import { createTierModels } from '../../agent/models/tier-models.ts';
import { checkModels } from './check-optional.ts';

it('lists the models that there are, and warns of those that lack something', () => {
  const balanced = { provider: 'openai-compatible', endpoint: 'http://x.test/v1', modelId: 'b' } as const;
  const high = { provider: 'openai', modelId: 'h' } as const;
  const check = (models: object) => checkModels(createTierModels({ models, env: {} }));
  expect(check({ balanced })).toMatchObject({ state: 'ok', message: 'balanced: b (openai-compatible)' });
  expect(check({ balanced, high })).toMatchObject({
    state: 'warning',
    message: 'balanced: b (openai-compatible), high (openai) lacks apiKey, or OPENAI_API_KEY in the environment',
  });
  expect(check({})).toMatchObject({ state: 'ok', message: expect.stringContaining('No model is configured') });
});
