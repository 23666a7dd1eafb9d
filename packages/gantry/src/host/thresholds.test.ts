import { expect, it } from 'vitest';
import { chunkingThresholdOf } from './thresholds.ts';

const behaviors = {
  models: {
    'openrouter/deepseek': { toolResultChunkingThreshold: 32_000 },
    'OpenRouter/': { toolResultChunkingThreshold: 50_000 },
    local: {},
  },
};

it.each([
  ['openrouter/deepseek-v3', 32_000],
  ['OPENROUTER/DeepSeek-R1', 32_000],
  ['openrouter/other', 50_000],
  ['local-model', undefined],
  ['gpt', undefined],
])('takes the longest prefix that fits %s', (id, threshold) => {
  expect(chunkingThresholdOf(behaviors, { caller: 'model', model: { provider: 'p', id } })).toBe(threshold);
});

it('has nothing to say where no model is known', () => {
  expect(chunkingThresholdOf(behaviors, { caller: 'client' })).toBeUndefined();
});
