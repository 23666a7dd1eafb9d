import { describe, expect, it } from 'vitest';
import { behaviorOf } from './model-behavior.ts';
import type { ModelsSettings } from './model-settings.ts';
import { createTierModels, howToConfigure } from './tier-models.ts';

const local = (modelId: string) => ({
  provider: 'openai-compatible' as const,
  endpoint: 'http://127.0.0.1:11434/v1',
  modelId,
});
const make = (models: ModelsSettings, env = {}) => createTierModels({ models, env });

describe('the models by tier', () => {
  it('stands the balanced one in for a tier that has none', () => {
    const models = make({ balanced: local('b') });
    expect(models.get('high')).toMatchObject({ tier: 'balanced', settings: { modelId: 'b' } });
    expect(models.own('high')).toBeUndefined();
  });

  it.each([
    ['no model id', { provider: 'openai-compatible', endpoint: 'http://x.test/v1' } as const],
    ['no endpoint', { provider: 'openai-compatible', modelId: 'm' } as const],
    ['no key', { provider: 'anthropic', modelId: 'm' } as const],
  ])('takes a tier with %s for one that is not there', (_why, low) => {
    expect(make({ low, balanced: local('b') }).get('low').settings.modelId).toBe('b');
  });

  it('finds a key in the variable that the provider is known for', () => {
    const low = { provider: 'anthropic', modelId: 'm' } as const;
    const models = make({ low, balanced: local('b') }, { ANTHROPIC_API_KEY: 'k' });
    expect(models.get('low').settings).toMatchObject({ modelId: 'm', apiKey: 'k' });
  });

  it('says how to configure one, Ollama first, where there is none', () => {
    const models = make({});
    expect(models.isConfigured).toBe(false);
    expect(() => models.get('balanced')).toThrowError(
      expect.objectContaining({ code: 'model_missing', message: howToConfigure }),
    );
    expect(howToConfigure).not.toContain('\n');
    expect(howToConfigure.indexOf('Ollama')).toBeLessThan(howToConfigure.indexOf('openai,'));
  });

  it('says what is missing where one is set that cannot be reached', () => {
    const low = { provider: 'openai-compatible', endpoint: 'http://x.test/v1' } as const;
    const models = make({ low, balanced: { provider: 'anthropic', modelId: 'm' } });
    expect(models.incomplete).toEqual([
      'low (openai-compatible) lacks modelId',
      'balanced (anthropic) lacks apiKey, or ANTHROPIC_API_KEY in the environment',
    ]);
    expect(() => models.get('balanced')).toThrowError(
      expect.objectContaining({ code: 'model_missing', message: expect.stringContaining('ANTHROPIC_API_KEY') }),
    );
    expect(make({ low, balanced: local('b') }).incomplete).toEqual(['low (openai-compatible) lacks modelId']);
  });

  it('tells tools what the model can do', () => {
    const models = make({ balanced: { ...local('b'), supportsImageInput: true, supportsTools: false } });
    expect(models.get('balanced').facts).toEqual({
      provider: 'openai-compatible',
      id: 'b',
      capabilities: { has_tools: false, sees_images: true },
    });
  });

  it('opens a model once, and again after a failure', async () => {
    let tries = 0;
    const models = createTierModels({
      models: { balanced: local('b') },
      env: {},
      openers: {
        'openai-compatible': async () => {
          tries += 1;
          throw new Error('no');
        },
      },
    });
    await expect(models.get('low').open()).rejects.toThrow('no');
    await expect(models.get('low').open()).rejects.toThrow('no');
    expect(tries).toBe(2);
  });
});

describe('the behaviour of a model', () => {
  const behaviors = { 'openrouter/': { maxTools: 1 }, 'OpenRouter/DeepSeek': { maxTools: 2 } };

  it('is that of the longest prefix of its id, whatever the case', () => {
    expect(behaviorOf(behaviors, 'openrouter/deepseek-chat')).toEqual({ maxTools: 2 });
    expect(behaviorOf(behaviors, 'OPENROUTER/other')).toEqual({ maxTools: 1 });
    expect(behaviorOf(behaviors, 'other')).toBeUndefined();
    expect(behaviorOf(behaviors, undefined)).toBeUndefined();
  });
});
