import { generateText, isStepCount } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { expect, it } from 'vitest';
import { makeInvoker, registryOf } from '../testing/make-invoker.ts';
import type { CallContext } from '../tool/context.ts';
import type { Tool } from '../tool/executor.ts';
import { textOutcome } from '../tool/outcome.ts';
import { toRegistration } from '../tool/registration.ts';
import { reportedFailure } from '../tool/messages.ts';
import { toAiSdkTools } from './ai-sdk-tools.ts';

type Prompt = Parameters<MockLanguageModelV4['doGenerate']>[0];

/** A model that calls one tool with the given input and then says it is done; keeps what it was sent. */
const modelThatCalls = (name: string, input: string): { model: MockLanguageModelV4; sent: Prompt[] } => {
  const sent: Prompt[] = [];
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  const model = new MockLanguageModelV4({
    doGenerate: async (prompt) => {
      sent.push(prompt);
      const isFirst = sent.length === 1;
      const content = isFirst
        ? [{ type: 'tool-call', toolCallId: 'c1', toolName: name, input }]
        : [{ type: 'text', text: 'done' }];
      const unified = isFirst ? 'tool-calls' : 'stop';
      return { content, finishReason: { unified, raw: unified }, usage, warnings: [] } as never;
    },
  });
  return { model, sent };
};

const seen: unknown[] = [];
const contexts: CallContext[] = [];
const toolOf = (
  name: string,
  inputSchema: object,
  execute: Tool['executor']['execute'] = async (call, context) => {
    seen.push(call.arguments);
    contexts.push(context);
    return textOutcome('ok');
  },
): Tool => ({
  registration: toRegistration({ name, description: 'd', source: 'local', inputSchema: inputSchema as never }),
  executor: { execute },
});

const run = async (tool: Tool, name: string, input: string, context: Partial<CallContext> = {}): Promise<Prompt[]> => {
  seen.length = 0;
  contexts.length = 0;
  const registry = registryOf(tool);
  const tools = toAiSdkTools({ invoker: makeInvoker(registry) }, { tools: registry.getTools() }, context);
  const { model, sent } = modelThatCalls(name, input);
  await generateText({ model, tools, stopWhen: isStepCount(3), prompt: 'go' });
  return sent;
};
const toolResult = (sent: Prompt[]): string => JSON.stringify(sent[1]?.prompt.at(-1));

it('runs the tool through Gantry’s call path, as a model in its session', async () => {
  const sent = await run(toolOf('t', { type: 'object', properties: { n: { type: 'integer' } } }), 't', '{"n":"5"}', {
    namespace: 'session/1',
  });
  expect(seen).toEqual([{ n: 5 }]);
  expect(contexts[0]).toMatchObject({ caller: 'model', namespace: 'session/1' });
  expect(toolResult(sent)).toContain('ok');
});

it('sends a provider names and schemas it accepts, and maps a call back', async () => {
  const tool = toolOf('3d_render', {
    type: 'object',
    properties: { level: { type: 'integer', enum: [1, 2] } },
    required: ['level'],
  });
  const sent = await run(tool, '_3d_render', '{"level":"2"}', { model: { provider: 'google.generative-ai' } });
  expect(sent[0]?.tools).toMatchObject([
    { name: '_3d_render', inputSchema: { properties: { level: { type: 'string', enum: ['1', '2'] } } } },
  ]);
  expect(seen).toEqual([{ level: 2 }]);
});

it('gives a tool whose call has no arguments an empty object', async () => {
  await run(toolOf('t', { type: 'object' }), 't', '');
  expect(seen).toEqual([{}]);
});

it('gives a failed call to the model as an error text', async () => {
  const failing = toolOf('t', { type: 'object' }, async () =>
    reportedFailure({ parts: [{ type: 'text', text: 'Order 17 not found.' }] }),
  );
  expect(toolResult(await run(failing, 't', '{}'))).toMatch(/error-text.*Order 17 not found/);
});

it('gives images to the model as images, never as characters of the text', async () => {
  const drawing = toolOf('t', { type: 'object' }, async () => ({
    status: 'done',
    parts: [
      { type: 'text', text: 'chart:' },
      { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' },
    ],
  }));
  const result = toolResult(await run(drawing, 't', '{}'));
  expect(result).toMatch(/"type":"file","mediaType":"image\/png"/);
  expect(result.match(/iVBORw0KGgo/g)).toHaveLength(1);
});

it('passes the abort of the generation on to the tool', async () => {
  const controller = new AbortController();
  const hanging = toolOf('t', { type: 'object' }, (_call, { signal }) => {
    controller.abort();
    return new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted'))));
  });
  const registry = registryOf(hanging);
  const tools = toAiSdkTools({ invoker: makeInvoker(registry) }, { tools: registry.getTools() });
  const { model } = modelThatCalls('t', '{}');
  await expect(
    generateText({ model, tools, prompt: 'go', stopWhen: isStepCount(2), abortSignal: controller.signal }),
  ).rejects.toThrow();
});
