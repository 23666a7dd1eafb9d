import { describe, expect, it } from 'vitest';
import { fakeFetch } from '../testing/fake-fetch.ts';
import { makeInvoker, registryOf } from '../testing/make-invoker.ts';
import type { RestEndpoint } from './endpoint.ts';
import { restGuide } from './rest-guide.ts';
import { restTool } from './rest-tool.ts';

const weather: RestEndpoint = {
  description: 'Weather of | a city.',
  url: 'https://api.example/v1/{city}',
  query: { days: '{days}' },
  headers: { 'x-client': 'gantry' },
  auth: { type: 'bearer', env: 'WEATHER_TOKEN' },
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' }, days: { type: 'integer', maximum: 7 } },
    required: ['city'],
  },
};

it('calls the endpoint with checked arguments and follows no redirect', async () => {
  const { fetch, seen } = fakeFetch(() => Response.json({ sun: true }));
  const invoker = makeInvoker(registryOf(restTool('weather', weather, { env: { WEATHER_TOKEN: 'tok-12345' }, fetch })));
  const call = (args: Record<string, string | number>) =>
    invoker.invoke({ name: 'weather', arguments: args }, { caller: 'model' });
  expect(await call({ city: 'Bad Tölz', days: 3 })).toMatchObject({ status: 'done', structured: { sun: true } });
  expect(await call({ city: 'x', days: 8 })).toMatchObject({
    status: 'failed',
    failure: { code: 'invalid_arguments' },
  });
  expect(seen).toHaveLength(1);
  expect(seen[0]).toMatchObject({ method: 'GET', init: { redirect: 'manual' } });
  expect(seen[0]?.url.href).toBe('https://api.example/v1/Bad%20T%C3%B6lz?days=3');
  expect(seen[0]?.headers.get('authorization')).toBe('Bearer tok-12345');
});

it('tells a model without a secret what the operator has to set', async () => {
  const { fetch, seen } = fakeFetch(() => Response.json({}));
  const invoker = makeInvoker(registryOf(restTool('weather', weather, { env: {}, fetch })));
  expect(await invoker.invoke({ name: 'weather', arguments: { city: 'x' } }, { caller: 'model' })).toMatchObject({
    status: 'failed',
    failure: { code: 'auth_required', message: expect.stringContaining('WEATHER_TOKEN') },
  });
  expect(seen).toEqual([]);
});

describe('what an entry means', () => {
  const { fetch } = fakeFetch(() => Response.json({}));
  const registrationOf = (endpoint: Partial<RestEndpoint>) =>
    restTool('demo', { description: 'x', url: 'https://api.example/{id}', ...endpoint }, { env: {}, fetch })
      .registration;

  it('makes the arguments from the placeholders when it names none', () => {
    expect(registrationOf({ method: 'POST', body: { t: '{text} {id}' } }).inputSchema).toEqual({
      type: 'object',
      properties: { id: { type: 'string' }, text: { type: 'string' } },
      required: ['id', 'text'],
      additionalProperties: false,
    });
  });

  it.each<[RestEndpoint['method'], object]>([
    ['GET', { readOnlyHint: true }],
    ['POST', { readOnlyHint: false, destructiveHint: false, idempotentHint: false }],
    ['PUT', { readOnlyHint: false, destructiveHint: true, idempotentHint: true }],
    ['DELETE', { readOnlyHint: false, destructiveHint: true, idempotentHint: true }],
  ])('hints at what %s does', (method, hints) => {
    expect(registrationOf({ method })).toMatchObject({
      source: 'rest',
      annotations: { ...hints, openWorldHint: true },
    });
  });

  it.each<[string, Partial<RestEndpoint>, RegExp]>([
    ['has space', {}, /a name has/],
    ['demo', { url: 'ftp://x/' }, /must begin with http/],
    ['demo', { url: '/v1/{id}' }, /must begin with http/],
    ['demo', { url: 'https://{host}/' }, /the host is fixed/],
    ['demo', { url: 'https://api.{zone}.example/' }, /the host is fixed/],
    ['demo', { url: 'https://user:pass@api.example/' }, /use auth/],
    ['demo', { parameters: { type: 'object', properties: { other: {} } } }, /\{id\} names no argument.*other/],
  ])('is refused for "%s" %j', (name, endpoint, message) => {
    expect(() =>
      restTool(name, { description: 'x', url: 'https://api.example/{id}', ...endpoint }, { env: {}, fetch }),
    ).toThrow(expect.objectContaining({ code: 'config_invalid', message: expect.stringMatching(message) }));
  });
});

it('lists the tools in the guide by service and purpose, without addresses and secrets', () => {
  const text = restGuide({ weather }).getDocument();
  expect(text).toContain('| `weather` | GET api.example | Weather of / a city. |');
  expect(text).not.toMatch(/WEATHER_TOKEN|\/v1\//);
});
