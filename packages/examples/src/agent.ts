/** The agent inside a program of one's own. The model of this example is scripted. */
import assert from 'node:assert/strict';
// #region use
import { createGantry, defineTool } from 'gantry';
import { agent, agentKey, createTierModels } from 'gantry/agent';
import * as z from 'zod';
// #endregion
import { simulateReadableStream } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';

const finish = (unified: 'stop' | 'tool-calls') => ({
  type: 'finish' as const,
  finishReason: { unified, raw: unified },
  usage: {
    inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 5, text: 5, reasoning: 0 },
  },
});
const model = new MockLanguageModelV4({
  doStream: [
    {
      stream: simulateReadableStream({
        chunks: [
          { type: 'tool-call', toolCallId: 'call-1', toolName: 'add_numbers', input: '{"a": 2, "b": 3}' },
          finish('tool-calls'),
        ],
      }),
    },
    {
      stream: simulateReadableStream({
        chunks: [
          { type: 'text-start', id: '1' },
          { type: 'text-delta', id: '1', delta: 'It is 5.' },
          { type: 'text-end', id: '1' },
          finish('stop'),
        ],
      }),
    },
  ],
});
const models = createTierModels({
  models: { balanced: { provider: 'openai', modelId: 'scripted', apiKey: 'none' } },
  env: {},
  openers: { openai: async () => model },
});

const addNumbers = defineTool({
  name: 'add_numbers',
  description: 'Adds two numbers.',
  input: z.strictObject({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => `${a + b}`,
});

// #region talk
await using gantry = await createGantry({ dataDir: ':memory:' })
  .use(agent({ tierModels: models })) // or: agent({ models: { balanced: { provider: 'anthropic', modelId: '…' } } })
  .start();
gantry.tools.register(addNumbers.registration, addNumbers.executor);

const sessions = gantry.service(agentKey)?.sessions;
const answer = await sessions?.send({
  sessionId: 'demo',
  text: 'What is 2 + 3?',
  onEvent: (event) => {
    if (event.type === 'tool-end') console.log(`${event.name}: ${event.result} (${event.durationMs} ms)`);
  },
});
console.log(answer?.reply);
// #endregion

assert.equal(answer?.reply, 'It is 5.');
assert.deepEqual(
  answer.toolCalls.map(({ name, isError }) => [name, isError]),
  [['add_numbers', false]],
);
assert.equal((await sessions?.turns('demo', 10))?.length, 2);
