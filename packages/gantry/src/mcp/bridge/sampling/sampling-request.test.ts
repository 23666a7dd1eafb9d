import { expect, it } from 'vitest';
import { readSamplingRequest } from './sampling-request.ts';

const text = (value: string) => ({ type: 'text', text: value });

it('is read as one text, with the instructions of the server named as such', () => {
  const params = {
    systemPrompt: 'Be brief.',
    messages: [
      { role: 'user', content: text('2 + 2?') },
      { role: 'assistant', content: [text('4'), text('or so')] },
      { role: 'user', content: text('Sure?') },
    ],
    maxTokens: 5,
    includeContext: 'allServers',
    modelPreferences: { hints: [{ name: 'big' }] },
  };
  expect(readSamplingRequest(params)).toEqual({
    maxTokens: 5,
    prompt: 'Instructions of the server: Be brief.\n\nUser: 2 + 2?\n\nAssistant: 4\nor so\n\nUser: Sure?\n\nAssistant:',
  });
});

const messages = [{ role: 'user', content: text('x') }];
it.each<[unknown, string]>([
  [null, 'no messages'],
  [{ messages: [], maxTokens: 5 }, 'no messages'],
  [{ messages: 'x', maxTokens: 5 }, 'no messages'],
  [{ messages }, '"maxTokens" must be'],
  [{ messages, maxTokens: 0 }, '"maxTokens" must be'],
  [{ messages, maxTokens: 1.5 }, '"maxTokens" must be'],
  [{ messages, maxTokens: '5' }, '"maxTokens" must be'],
  [{ messages, maxTokens: 5, tools: [] }, 'use tools'],
  [{ messages: [null], maxTokens: 5 }, 'only messages of text'],
  [{ messages: [{ role: 'user', content: [] }], maxTokens: 5 }, 'only messages of text'],
  [{ messages: [{ role: 'user', content: { type: 'image', data: '' } }], maxTokens: 5 }, 'only messages of text'],
  [{ messages: [{ role: 'user', content: text('x'.repeat(200_001)) }], maxTokens: 5 }, 'longer than'],
])('is refused when it is %j', (params, problem) => {
  expect(readSamplingRequest(params)).toMatchObject({ problem: expect.stringContaining(problem) as string });
});
