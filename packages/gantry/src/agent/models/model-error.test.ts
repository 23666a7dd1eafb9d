import { APICallError } from 'ai';
import { describe, expect, it } from 'vitest';
import { isRefusal, overflowOf, toModelError } from './model-error.ts';

const settings = { provider: 'openai', modelId: 'm1', headers: {}, apiKey: 'sk-very-secret-key' } as const;
const answer = (statusCode: number, message: string): APICallError =>
  new APICallError({ message, url: 'http://x.test', requestBodyValues: {}, statusCode, responseBody: message });

describe('what a provider says about a request that is too long', () => {
  it.each([
    [
      "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
      { maxTokens: 8192, usedTokens: 9000 },
    ],
    [
      "This model's maximum context length is 4,096 tokens. However, you requested 5,000 tokens (4500 in the messages)",
      { maxTokens: 4096, usedTokens: 5000 },
    ],
    ['prompt is too long: 210000 tokens > 200000 maximum', { maxTokens: 200_000, usedTokens: 210_000 }],
    [
      'The input token count (1100000) exceeds the maximum number of tokens allowed (1048576).',
      { maxTokens: 1_048_576, usedTokens: 1_100_000 },
    ],
    [
      'the request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it',
      { maxTokens: 4096, usedTokens: 5000 },
    ],
    ['context_length_exceeded', {}],
  ])('%s', (message, overflow) => {
    expect(overflowOf(toModelError(answer(400, message), settings))).toEqual(overflow);
  });

  it('is no matter of other refusals', () => {
    expect(overflowOf(toModelError(answer(400, 'messages.1: role must alternate'), settings))).toBeUndefined();
    expect(overflowOf(toModelError(answer(500, 'maximum context length is 10 tokens'), settings))).toBeUndefined();
    expect(overflowOf(new Error('maximum context length is 10'))).toBeUndefined();
  });
});

describe('a refusal of what is in a request', () => {
  it.each([
    [answer(400, 'no'), true],
    [answer(413, 'no'), true],
    // Ollama, llama.cpp
    [answer(500, 'Failed to create new sequence: failed to process inputs: image: unknown format'), true],
    [answer(500, 'image input is not supported - hint: you may need to provide the mmproj'), true],
    [{ error: { message: 'Could not process image' } }, true],
    [answer(500, 'out of memory'), false],
    [answer(429, 'too many images'), false],
    [answer(404, 'no such image'), false],
  ])('is told from other failures: %s', (thrown, expected) => {
    expect(isRefusal(toModelError(thrown, { ...settings, modelId: 'image-1' }))).toBe(expected);
  });
});

describe('the error of a model', () => {
  it.each([
    [401, 'OPENAI_API_KEY', 'never'],
    [404, 'modelId', 'never'],
    [429, 'rate-limited', 'later'],
    [503, 'HTTP 503', 'later'],
    [400, 'HTTP 400', 'never'],
  ] as const)('of status %d says %s', (status, part, retry) => {
    const error = toModelError(answer(status, 'why not'), settings);
    expect(error).toMatchObject({ code: 'model_failed', retry, details: { provider: 'openai', model: 'm1', status } });
    expect(error.message).toContain(part);
    expect(error.message).toContain('why not');
  });

  it('never holds the key', () => {
    expect(toModelError(answer(401, 'Incorrect API key: sk-very-secret-key'), settings).message).not.toContain(
      'sk-very-secret-key',
    );
  });

  it('reads the object that a stream gives as an error', () => {
    expect(toModelError({ error: { message: 'overloaded' } }, settings).message).toContain('overloaded');
  });

  it('says where nothing answers', () => {
    const refused = new TypeError('fetch failed', {
      cause: Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }),
    });
    const error = toModelError(refused, { ...settings, endpoint: 'http://127.0.0.1:9/v1' });
    expect(error.message).toContain('Nothing answers');
    expect(error.message).toContain('http://127.0.0.1:9/v1');
  });
});
