import { describe, expect, it } from 'vitest';
import { GantryError } from '../packages/gantry/src/kernel/errors.ts';
import type { ModelPort } from '../packages/gantry/src/tool/model-port.ts';
import { fakeClock } from '../packages/gantry/src/testing/fake-clock.ts';
import type { BridgeHarness } from './fixtures/bridge-harness.ts';
import { startBridge } from './fixtures/bridge-harness.ts';
import { startConformanceServer } from './fixtures/conformance/conformance-server.ts';

type Asked = Parameters<ModelPort['complete']>[0];

const modelSaying = (answer: string | Error): { readonly model: ModelPort; readonly asked: Asked[] } => {
  const asked: Asked[] = [];
  const complete = (request: Asked): Promise<string> => {
    asked.push(request);
    return typeof answer === 'string' ? Promise.resolve(answer) : Promise.reject(answer);
  };
  return { model: { complete }, asked };
};

const allowed = { sampling: { allowed: true } };
// The sentence on a server is written by the model too.
const settings = { generateLlmSummaries: false };

// The same question, as a server of each generation asks it.
const ask = (t: BridgeHarness, generation: string, prompt = 'What is the capital of France?'): Promise<string> =>
  generation === '2025'
    ? t.text('s', 'test_sampling', { prompt })
    : t.text('s', 'test_input_required_result_sampling', {});

describe.each(['2025', '2026'] as const)('a server of %s that asks for an answer of a model', (generation) => {
  it('gets one where its entry allows it, from the words it sent alone', async () => {
    await using server = await startConformanceServer([generation]);
    const { model, asked } = modelSaying('Paris.');
    await using t = await startBridge({ s: { url: server.url, ...allowed } }, { model, settings });
    expect(await ask(t, generation)).toContain('Paris.');
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({ tier: 'low', maxOutputTokens: 100 });
    expect(asked[0]?.prompt).toBe('User: What is the capital of France?\n\nAssistant:');
  });

  it('is answered by the tier that its entry names, within its limit', async () => {
    await using server = await startConformanceServer([generation]);
    const { model, asked } = modelSaying('Paris.');
    const sampling = { allowed: true, tier: 'high', maxTokens: 7 };
    await using t = await startBridge({ s: { url: server.url, sampling } }, { model, settings });
    await ask(t, generation);
    expect(asked[0]).toMatchObject({ tier: 'high', maxOutputTokens: 7 });
  });

  it('has a budget of calls, which comes back with the hour', async () => {
    await using server = await startConformanceServer([generation]);
    const { model, asked } = modelSaying('Paris.');
    const clock = fakeClock();
    const sampling = { allowed: true, callsPerHour: 2 };
    await using t = await startBridge({ s: { url: server.url, sampling } }, { model, clock, settings });
    expect(await ask(t, generation)).toContain('Paris.');
    await clock.advance(10 * 60_000);
    expect(await ask(t, generation)).toContain('Paris.');
    expect(await ask(t, generation)).toContain('it has used its 2 answers of this hour; the next in 50 minutes');
    expect(asked).toHaveLength(2);
    await clock.advance(50 * 60_000);
    expect(await ask(t, generation)).toContain('Paris.');
  });

  it('has a budget of tokens, out of which the longest answer is taken until the real one is known', async () => {
    await using server = await startConformanceServer([generation]);
    const { model } = modelSaying('Paris.');
    const sampling = { allowed: true, tokensPerHour: 250 };
    await using t = await startBridge({ s: { url: server.url, sampling } }, { model, settings });
    expect(await ask(t, generation)).toContain('Paris.');
    expect(await ask(t, generation)).toContain('it would spend more than its 250 tokens an hour');
  });

  it('is told why a model gave none, and the call goes on its way', async () => {
    await using server = await startConformanceServer([generation]);
    const { model } = modelSaying(new GantryError('model_failed', 'The model is out of order.'));
    await using t = await startBridge({ s: { url: server.url, ...allowed } }, { model, settings });
    expect(await ask(t, generation)).toContain('got none: The model is out of order.');
  });

  it.each([
    ['has no word on it', {}, true],
    ['says no', { sampling: { allowed: false } }, true],
    ['was registered by a model', { ...allowed, origin: 'agent' }, true],
    ['allows it where there is no model', allowed, false],
  ])('is not told that it may when its entry %s', async (_, entry, hasModel) => {
    await using server = await startConformanceServer([generation]);
    const { model, asked } = modelSaying('Paris.');
    await using t = await startBridge(
      { s: { url: server.url, ...entry } },
      {
        settings,
        ...(hasModel && { model }),
        addresses: { policy: { allowPrivateNetworks: true }, isOwnListener: () => false } as never,
      },
    );
    const tool = generation === '2025' ? 'test_sampling' : 'test_missing_capability';
    const text = await t.text('s', tool, generation === '2025' ? { prompt: 'x' } : {});
    expect(text).toMatch(/sampling|method not found/i);
    expect(asked).toEqual([]);
  });
});

it('a server that may ask for answers is told so with every request', async () => {
  await using server = await startConformanceServer(['2026']);
  await using t = await startBridge(
    { s: { url: server.url, ...allowed } },
    { model: modelSaying('x').model, settings },
  );
  expect(await t.text('s', 'test_missing_capability', {})).toBe('The client can sample.');
});
