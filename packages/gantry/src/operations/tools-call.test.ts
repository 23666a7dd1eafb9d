import * as z from 'zod';
import { describe, expect, it } from 'vitest';
import { GantryError } from '../kernel/errors.ts';
import type { ServerStatus } from '../mcp/wire/server-state.ts';
import { makeOperationDeps } from '../testing/make-operation-deps.ts';
import type { CallContext } from '../tool/context.ts';
import { defineTool } from '../tool/define-tool.ts';
import { reportedFailure } from '../tool/messages.ts';
import type { Outcome } from '../tool/outcome.ts';
import type { Called } from './called.ts';
import type { ToolsCallInput } from './tools-call.ts';
import { toolsCall } from './tools-call.ts';

const call = async (outcome: Outcome | Error, input: Partial<ToolsCallInput> = {}): Promise<Called> => {
  const tool = defineTool({
    name: 'tool',
    description: 'd',
    input: z.strictObject({ n: z.number().optional() }),
    execute: () => {
      if (outcome instanceof Error) throw outcome;
      return outcome;
    },
  });
  const deps = makeOperationDeps([tool], { newId: () => 'call-1' });
  const called = await toolsCall.handler({ name: 'tool', ...input }, deps, {});
  expect(toolsCall.output.safeParse(called).error).toBeUndefined();
  return JSON.parse(JSON.stringify(called)) as Called;
};

const base = { toolName: 'tool', toolCallId: 'call-1', durationMs: 0 };
const text = (value: string) => ({ type: 'text', text: value }) as const;
const handle = { kind: 'question', id: 'q1', expiresAt: '2026-12-01T00:00:00.000Z' } as const;
const file = { path: 'a/b.png', name: 'b.png', size: 3, mime: 'image/png' };

describe('the shape of an outcome', () => {
  it.each<[string, Outcome | Error, Partial<Called>]>([
    [
      'done',
      { status: 'done', parts: [text('hello')] },
      { status: 'done', isError: false, content: 'hello', blocks: [text('hello')] },
    ],
    [
      'done with structure and files',
      { status: 'done', parts: [], structured: { a: 1 }, attachments: [file] },
      {
        status: 'done',
        isError: false,
        content: '{\n  "a": 1\n}',
        blocks: [],
        structuredContent: { a: 1 },
        attachments: [file],
      },
    ],
    [
      'parked',
      { status: 'parked', handle, parts: [text('waiting')] },
      { status: 'parked', isError: false, content: 'waiting', blocks: [text('waiting')], handle },
    ],
    [
      'failed by its own word',
      reportedFailure({ parts: [text('no such page')] }),
      {
        status: 'failed',
        isError: true,
        content: 'no such page',
        blocks: [text('no such page')],
        error: { code: 'execution_failed', message: 'no such page', isRetryable: false },
      },
    ],
    [
      'failed on the way',
      new GantryError('timeout', 'too slow'),
      {
        status: 'failed',
        isError: true,
        content: 'too slow',
        error: { code: 'timeout', message: 'too slow', isRetryable: true },
      },
    ],
  ])('%s', async (_name, outcome, expected) => {
    expect(await call(outcome)).toEqual({ ...base, ...expected });
  });
});

it('gives an unknown tool and bad arguments as results of the call', async () => {
  const unknown = await call({ status: 'done', parts: [] }, { name: 'toool' });
  expect(unknown).toMatchObject({ isError: true, error: { code: 'tool_not_found' } });
  expect(unknown.content).toContain('tool');
  for (const given of ['{"n": "x"}', '[1]', 'no json', '{"m": 1}'])
    expect(await call({ status: 'done', parts: [] }, { arguments: given })).toMatchObject({
      status: 'failed',
      error: { code: 'invalid_arguments' },
    });
});

it('calls as an operator, under the session and the time limit that were given, with signal and progress', async () => {
  let seen: CallContext | undefined;
  const tool = defineTool({
    name: 'tool',
    description: 'd',
    execute: (_args, context) => {
      seen = context;
      context.onProgress?.({ progress: 1, total: 2 });
      return 'x';
    },
  });
  const progress: unknown[] = [];
  const { signal } = new AbortController();
  await toolsCall.handler({ name: 'tool', sessionId: 's1', timeoutMs: 1234 }, makeOperationDeps([tool]), {
    signal,
    onProgress: (step) => progress.push(step),
  });
  expect(seen).toMatchObject({ caller: 'operator', namespace: 'session/s1', timeoutMs: 1234 });
  expect(progress).toEqual([{ progress: 1, total: 2 }]);
});

it('says how a call ended that a stop of the gateway has ended', async () => {
  const signal = AbortSignal.abort(new GantryError('stopped', 'Gantry is stopping.'));
  const tool = defineTool({ name: 'tool', description: 'd', execute: () => 'x' });
  expect(await toolsCall.handler({ name: 'tool' }, makeOperationDeps([tool]), { signal })).toMatchObject({
    status: 'failed',
    content: 'Gantry is stopping.',
    error: { code: 'execution_failed', isRetryable: true },
  });
});

it('waits for a tool of a server that is being connected, and for no other', async () => {
  const connected = Promise.withResolvers<void>();
  const firstTools = { pendingForCalls: connected.promise };
  const deps = makeOperationDeps([defineTool({ name: 'here', description: 'd', execute: () => 'x' })], { firstTools });
  expect(await toolsCall.handler({ name: 'here' }, deps, {})).toMatchObject({ status: 'done' });
  const called = toolsCall.handler({ name: 'web__search' }, deps, {});
  const { registration, executor } = defineTool({ name: 'web__search', description: 'd', execute: () => 'found' });
  deps.registry.register(registration, executor);
  connected.resolve();
  expect(await called).toMatchObject({ status: 'done', content: 'found' });
});

it('says that the server of the tool is down when that is why there is no such tool', async () => {
  const down: ServerStatus = {
    name: 'web',
    id: '0123456789ab',
    state: 'unreachable',
    transport: 'auto',
    protocolVersion: null,
    tools: 0,
    prompts: 0,
    resources: 0,
    fingerprint: null,
    origin: 'operator',
    lastError: 'It refuses.',
  };
  const servers = { list: () => [down], details: async () => undefined, refresh: async () => {} };
  const called = await toolsCall.handler({ name: 'web__echo' }, makeOperationDeps([], { servers }), {});
  expect(called).toMatchObject({ error: { code: 'tool_not_found', isRetryable: true } });
  expect(called.content).toContain('Server "web" is down: It refuses.');
});
