import { describe, expect, it } from 'vitest';
import { readEnvironment } from './environment.ts';

describe('readEnvironment', () => {
  it.each([
    [{ GANTRY_MAX_TOOL_ITERATIONS: '9' }, { loop: { maxToolIterations: 9 } }],
    [{ GANTRY_MAX_CONSECUTIVE_TOOL_ERRORS: '3' }, { loop: { maxConsecutiveToolErrors: 3 } }],
    [{ GANTRY_TOOL_EXECUTION_TIMEOUT_MS: '1000' }, { loop: { maxToolTimeoutMs: 1000 } }],
    [{ GANTRY_STREAM_SDK_CALL_TIMEOUT_MS: '1000' }, { models: { callTimeoutMs: 1000 } }],
    [{ GANTRY_WEB__MAXSEARCHRESULTS: '7' }, { web: { maxSearchResults: 7 } }],
    [{ WebTools__ChunkingThreshold: '9000' }, { web: { chunkingThreshold: 9000 } }],
    [{ McpBridge__DefaultTimeoutMs: '5' }, { mcp: { defaultTimeoutMs: 5 } }],
    [{ FETCH_URL_TIMEOUT_MS: '9000' }, { web: { fetchTimeoutMs: 9000 } }],
    [
      { MAX_FETCH_SIZE_MB: '2', FETCH_URL_ENGINE_ORDER: 'crawl4ai' },
      { web: { maxFetchSizeMb: 2, fetchEngineOrder: 'crawl4ai' } },
    ],
    [{ SEARXNG_BASE_URL: 'http://searx.example' }, { web: { searxngBaseUrl: 'http://searx.example' } }],
    [{ GANTRY_FETCH_URL_TIMEOUT_MS: '8000', FETCH_URL_TIMEOUT_MS: '9000' }, { web: { fetchTimeoutMs: 8000 } }],
    [{ FETCH_URL_TIMEOUT_MS: '9000', GANTRY_FETCH_URL_TIMEOUT_MS: '8000' }, { web: { fetchTimeoutMs: 8000 } }],
    [
      {
        McpBridge__DefaultElicitation__Defaults__mailbox: 'work',
        McpBridge__DefaultElicitation__Defaults__labels__0: 'a',
        McpBridge__DefaultElicitation__Defaults__labels__1: 'b',
        McpBridge__DefaultElicitation__DeniedFields__0: 'accountId',
        McpBridge__DefaultElicitation__MaxPerCall: '2',
      },
      {
        mcp: {
          defaultElicitation: {
            defaults: { mailbox: 'work', labels: ['a', 'b'] },
            deniedFields: ['accountId'],
            maxPerCall: 2,
          },
        },
      },
    ],
    [{ RUN_ENV: 'development', BRAVE_API_KEY: 'key', PATH: 'x' }, {}],
    [{ GANTRY_CRYPTO_SECRET: 'a', GANTRY_CRYPTO_SECRET_V2: 'b', GANTRY_CRYPTO_SECRET_CURRENT: '2' }, {}],
  ])('reads %j', (env, config) => {
    expect(readEnvironment(env)).toMatchObject({ config, warnings: [] });
    expect(readEnvironment(env).config).toEqual(config);
  });

  it('warns of a name that is near to one of the encryption secrets', () => {
    expect(readEnvironment({ GANTRY_CRYPTO_SECRETS: 'a', GANTRY_CRYPTO_SECRET_V0: 'b' }).warnings).toHaveLength(2);
  });
});
