import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Bus } from '../bus/bus.ts';
import type { Envelope, Headers } from '../bus/envelope.ts';
import { createEnvelope } from '../bus/envelope.ts';
import { createInProcessBus } from '../bus/in-process-bus.ts';
import { GantryError } from '../kernel/errors.ts';
import { silentLog } from '../kernel/log.ts';
import { makeInvoker, registryOf } from '../testing/make-invoker.ts';
import type { CallContext } from '../tool/context.ts';
import { defineTool } from '../tool/define-tool.ts';
import type { Outcome } from '../tool/outcome.ts';
import { failedOutcome } from '../tool/outcome.ts';
import { reportedFailure } from '../tool/messages.ts';
import { serveToolInvoke } from './bus-handler.ts';
import { toContextHeaders } from './context-headers.ts';
import type { Invoker } from './invoker.ts';

let bus: Bus;
let stopping: AbortController;
let served: AsyncDisposable;
let replies: { topic: string; envelope: Envelope }[];
let arrived: () => void;
const contexts: CallContext[] = [];
const started = { resolve: (): void => {} };

const tools = [
  defineTool({ name: 'ok', description: 'd', execute: (_args, context) => (contexts.push(context), 'fine') }),
  defineTool({
    name: 'says_no',
    description: 'd',
    execute: () => reportedFailure({ parts: [{ type: 'text', text: 'no such order' }] }),
  }),
  defineTool({
    name: 'fails',
    description: 'd',
    execute: () => failedOutcome('timeout', 'No result within 5 ms.', 'later'),
  }),
  defineTool({
    name: 'throws',
    description: 'd',
    execute: () => {
      throw new Error('broken');
    },
  }),
  defineTool({ name: 'unsayable', description: 'd', execute: () => '' }),
  defineTool({ name: 'hangs', description: 'd', execute: () => (started.resolve(), new Promise<string>(() => {})) }),
  defineTool({
    name: 'reports',
    description: 'd',
    execute: (_args, { onProgress }) => {
      onProgress?.({ progress: 1, total: 2 });
      return 'done';
    },
  }),
];

beforeEach(async () => {
  bus = createInProcessBus({ log: silentLog });
  stopping = new AbortController();
  replies = [];
  arrived = () => {};
  contexts.length = 0;
  const real = makeInvoker(registryOf(...tools));
  const invoker: Pick<Invoker, 'invoke'> = {
    invoke: async (call, context) => {
      if (call.name === 'breaks_the_invoker') throw new Error('out of order');
      const outcome = await real.invoke(call, context);
      return call.name === 'unsayable' ? ({ status: 'failed' } as Outcome) : outcome;
    },
  };
  served = await serveToolInvoke({ bus, invoker, agent: 'scout', log: silentLog, stopping: stopping.signal });
  for (const pattern of ['tool.result.#', 'elsewhere', 'tool.progress.#'])
    await bus.subscribe(pattern, `test-${pattern}`, async (envelope, topic) => {
      replies.push({ topic, envelope });
      arrived();
      return 'ack';
    });
});
afterEach(async () => {
  stopping.abort(new GantryError('stopped', 'end of test'));
  await served[Symbol.asyncDispose]();
  await bus[Symbol.asyncDispose]();
});

const send = (toolName: string, more: { replyTo?: string; headers?: Headers } = {}): Promise<void> =>
  bus.publish(
    'tool.invoke',
    createEnvelope({
      messageType: 'ToolInvokeRequest',
      source: 'caller',
      body: { toolCallId: 'c1', toolName },
      correlationId: 'corr-1',
      ...more,
    }),
  );
const reply = async (count = 1): Promise<{ topic: string; envelope: Envelope }> => {
  while (replies.length < count) await new Promise<void>((resolve) => (arrived = resolve));
  return replies[count - 1] as { topic: string; envelope: Envelope };
};

describe('the reply', () => {
  it('goes where the request says, under its correlation id, from this agent, marked as tool output', async () => {
    await send('ok', { replyTo: 'elsewhere' });
    expect(await reply()).toMatchObject({
      topic: 'elsewhere',
      envelope: {
        messageType: 'ToolInvokeResponse',
        correlationId: 'corr-1',
        source: 'scout',
        headers: { 'gantry-content-trust': 'tool-output' },
        body: { toolCallId: 'c1', toolName: 'ok', content: 'fine', isError: false },
      },
    });
  });

  it('goes to tool.result when the request names no topic', async () => {
    await send('ok');
    expect((await reply()).topic).toBe('tool.result');
  });

  it.each([
    ['says_no', 'ToolInvokeResponse', { isError: true, content: 'no such order' }],
    ['fails', 'ToolError', { code: 'timeout', isRetryable: true, message: 'No result within 5 ms.' }],
    ['throws', 'ToolError', { code: 'execution_failed', isRetryable: false, message: 'broken' }],
    ['nobody', 'ToolError', { code: 'tool_not_found', isRetryable: false, toolCallId: 'c1', toolName: 'nobody' }],
    ['unsayable', 'ToolError', { code: 'execution_failed', isRetryable: false }],
    ['breaks_the_invoker', 'ToolError', { code: 'execution_failed', message: 'out of order' }],
  ])('to %s is one %s', async (tool, messageType, body) => {
    await send(tool);
    await send('ok');
    await reply(2);
    expect(replies.map(({ envelope }) => envelope.messageType)).toEqual([messageType, 'ToolInvokeResponse']);
    expect(replies[0]?.envelope.body).toMatchObject(body);
  });
});

it('reads the caller and everything policy looks at from the headers', async () => {
  const context: CallContext = {
    caller: 'model',
    namespace: 'session/a',
    workspace: 'w',
    client: 'c',
    tier: 'low',
    timeoutMs: 1234,
    sharesFolder: true,
    answersQuestions: true,
    receivesLateResults: true,
    asks: { elicitation: { form: {} }, roots: {} },
    trace: { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`, tracestate: 'k=v' },
  };
  await send('ok', { headers: toContextHeaders(context) });
  await reply();
  expect(contexts[0]).toMatchObject(context);
});

it.each([
  ['no headers', {}],
  ['a caller nobody knows', { 'gantry-caller': 'root', 'gantry-timeout-ms': '-5', 'gantry-tier': 'ultra' }],
  ['what cannot be read of whom to ask', { 'gantry-mcp-asks': '{"elicit' }],
])('takes a request with %s for the least trusted caller', async (_what, headers) => {
  await send('ok', { headers });
  await reply();
  expect(contexts[0]).toMatchObject({
    caller: 'client',
    timeoutMs: undefined,
    tier: undefined,
    answersQuestions: false,
  });
});

it('publishes progress under the correlation id of the call', async () => {
  await send('reports');
  const progress = await reply();
  expect(progress).toMatchObject({
    topic: 'tool.progress.scout',
    envelope: { messageType: 'ToolProgress', correlationId: 'corr-1', body: { progress: 1, total: 2 } },
  });
});

it('ends a call that its caller cancels, and still answers once', async () => {
  const running = new Promise<void>((resolve) => (started.resolve = resolve));
  await send('hangs');
  await running;
  await bus.publish(
    'tool.cancel',
    createEnvelope({ messageType: 'ToolCancel', source: 'caller', body: {}, correlationId: 'corr-1' }),
  );
  expect((await reply()).envelope).toMatchObject({ messageType: 'ToolError', body: { code: 'execution_failed' } });
});

it('answers nothing when the gateway stops under a call', async () => {
  const running = new Promise<void>((resolve) => (started.resolve = resolve));
  await send('hangs');
  await running;
  stopping.abort(new GantryError('stopped', 'The gateway stops.'));
  await served[Symbol.asyncDispose]();
  expect(replies).toEqual([]);
});
