/** Gantry's tools for a model of the AI SDK. The model of this example is scripted. */
import assert from 'node:assert/strict';
// #region use
import { generateText, isStepCount } from 'ai';
import { createGantry, defineTool } from 'gantry';
import { toAiSdkTools } from 'gantry/agent';
import * as z from 'zod';
// #endregion
import { MockLanguageModelV4 } from 'ai/test';

const usage = {
  inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 5, text: 5, reasoning: 0 },
};
const model = new MockLanguageModelV4({
  doGenerate: [
    {
      content: [{ type: 'tool-call', toolCallId: 'call-1', toolName: 'add_numbers', input: '{"a": 2, "b": 3}' }],
      finishReason: { unified: 'tool-calls', raw: 'tool_calls' },
      usage,
      warnings: [],
    },
    {
      content: [{ type: 'text', text: 'It is 5.' }],
      finishReason: { unified: 'stop', raw: 'stop' },
      usage,
      warnings: [],
    },
  ],
});

// #region call
const addNumbers = defineTool({
  name: 'add_numbers',
  description: 'Adds two numbers.',
  input: z.strictObject({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => `${a + b}`,
});

await using gantry = await createGantry({ dataDir: ':memory:' }).start();
gantry.tools.register(addNumbers.registration, addNumbers.executor);

// The namespace is the session: working memory and long results are kept under it.
const context = { namespace: 'session/1' };
const { text } = await generateText({
  model,
  tools: toAiSdkTools(gantry, gantry.toolset(context), context),
  stopWhen: isStepCount(5),
  prompt: 'What is 2 + 3?',
});
// #endregion

assert.equal(text, 'It is 5.');
const secondPrompt = JSON.stringify(model.doGenerateCalls[1]?.prompt);
assert.match(secondPrompt, /"type":"tool-result".*"value":"5"/);
