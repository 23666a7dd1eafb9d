import { afterEach, describe, expect, it } from 'vitest';
import { createModelPort } from '../packages/gantry/src/agent/models/create-model-port.ts';
import type { TierSettings } from '../packages/gantry/src/agent/models/model-settings.ts';
import { createTierModels } from '../packages/gantry/src/agent/models/tier-models.ts';
import { loadConfig } from '../packages/gantry/src/host/config/load-config.ts';
import { systemClock } from '../packages/gantry/src/kernel/clock.ts';
import { saidIn } from './fixtures/model-loop.ts';
import type { ModelProtocol, ModelServer } from './fixtures/model-server.ts';
import { startModel } from './fixtures/model-server.ts';

let open = new AsyncDisposableStack();
afterEach(async () => {
  await open.disposeAsync();
  open = new AsyncDisposableStack();
});

const providers: Readonly<Record<ModelProtocol, TierSettings['provider']>> = {
  chat: 'openai-compatible',
  responses: 'openai',
  messages: 'anthropic',
  gemini: 'google',
};
const tierOf = ({ endpoint }: ModelServer, protocol: ModelProtocol = 'chat'): TierSettings => ({
  provider: providers[protocol],
  endpoint,
  modelId: 'm',
  apiKey: 'test-key',
  headers: { 'x-test': '1' },
});
const portOf = (balanced: TierSettings, low?: TierSettings) =>
  createModelPort({
    models: createTierModels({ models: { balanced, low }, env: {} }),
    clock: systemClock,
    callTimeoutMs: 30_000,
    maxRetries: 0,
  });
const question = { system: 'Be short.', prompt: 'Why?', signal: new AbortController().signal };

describe.each(['chat', 'responses', 'messages', 'gemini'] as const)('a model over %s', (protocol) => {
  it('answers one question, with the key and the headers of its tier', async () => {
    const model = open.use(await startModel([{ text: 'Because.' }], protocol));
    expect(await portOf(tierOf(model, protocol)).complete({ ...question, tier: 'balanced' })).toBe('Because.');
    const [asked] = model.requests;
    expect(JSON.stringify(asked?.body)).toContain('Be short.');
    expect(saidIn(asked!)).toContain('Why?');
    expect(asked?.headers['x-test']).toBe('1');
    const { authorization, 'x-api-key': key, 'x-goog-api-key': googleKey } = asked?.headers ?? {};
    expect(authorization ?? key ?? googleKey).toContain('test-key');
  });

  it('looks at a picture', async () => {
    const model = open.use(await startModel([{ text: 'A plan.' }], protocol));
    const files = [{ data: Buffer.from('PNG'), mediaType: 'image/png' }];
    expect(await portOf(tierOf(model, protocol)).look({ ...question, tier: 'balanced', files })).toBe('A plan.');
    expect(saidIn(model.requests[0]!)).toContain(Buffer.from('PNG').toString('base64'));
  });
});

it('reaches a deployment of Azure', async () => {
  const model = open.use(await startModel([{ text: 'Because.' }], 'responses'));
  const azure = { ...tierOf(model, 'responses'), provider: 'azure' as const };
  expect(await portOf(azure).complete({ ...question, tier: 'balanced' })).toBe('Because.');
  expect(model.requests[0]?.headers['api-key']).toBe('test-key');
  expect(model.requests[0]?.path).toContain('/responses');
});

describe('the port of a model', () => {
  it('asks the balanced model when the low one fails, once', async () => {
    const low = open.use(await startModel([{ status: 500, message: 'no' }]));
    const balanced = open.use(await startModel([{ text: 'yes' }]));
    expect(await portOf(tierOf(balanced), tierOf(low)).complete({ ...question, tier: 'low' })).toBe('yes');
    const failing = open.use(await startModel(() => ({ status: 500, message: 'no' })));
    await expect(portOf(tierOf(failing)).complete({ ...question, tier: 'low' })).rejects.toMatchObject({
      code: 'model_failed',
    });
    expect(failing.requests).toHaveLength(1);
  });

  it('never looks with another model than the one that was meant', async () => {
    const model = open.use(await startModel([]));
    await expect(portOf(tierOf(model)).look({ ...question, tier: 'high', files: [] })).rejects.toMatchObject({
      code: 'model_missing',
    });
  });

  it('ends with its caller', async () => {
    const model = open.use(await startModel([]));
    const signal = AbortSignal.abort();
    await expect(portOf(tierOf(model)).complete({ ...question, tier: 'low', signal })).rejects.toMatchObject({
      code: 'cancelled',
    });
  });

  it('says where nothing answers', async () => {
    const model = await startModel([]);
    const tier = tierOf(model);
    await model[Symbol.asyncDispose]();
    await expect(portOf(tier).complete({ ...question, tier: 'low' })).rejects.toMatchObject({
      code: 'model_failed',
      message: expect.stringContaining(`Nothing answers for the model "m" (openai-compatible) at ${tier.endpoint}`),
    });
  });
});

describe('the settings of models', () => {
  const load = async (env: Record<string, string>, flags: object = {}) =>
    (await loadConfig({ env, flags: { ...flags }, cwd: import.meta.dirname })).config.models;

  it('may come from the environment, by both of their names', async () => {
    const expected = { balanced: { modelId: 'qwen3', supportsImageInput: true }, low: { modelId: 'small' } };
    expect(
      await load({
        GANTRY_MODELS__BALANCED__MODELID: 'qwen3',
        GANTRY_MODELS__BALANCED__SUPPORTSIMAGEINPUT: 'true',
        GANTRY_MODELS__LOW__MODELID: 'small',
      }),
    ).toMatchObject(expected);
    expect(
      await load({ LLM__ModelId: 'qwen3', LLM__Balanced__SupportsImageInput: 'true', LLM__Low__ModelId: 'small' }),
    ).toMatchObject(expected);
  });

  it('without a tier around them are those of the balanced one', async () => {
    const models = await load({}, { models: { modelId: 'qwen3', endpoint: 'http://x.test/v1', maxRetries: 5 } });
    expect(models).toMatchObject({ maxRetries: 5, balanced: { modelId: 'qwen3', endpoint: 'http://x.test/v1' } });
  });

  it('have a message for what is wrong, with the path', async () => {
    await expect(load({}, { models: { balanced: { modelId: 'x', endpont: 'y' } } })).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining('models.balanced.endpont: there is no such setting; did you mean "endpoint"?'),
    });
  });
});
