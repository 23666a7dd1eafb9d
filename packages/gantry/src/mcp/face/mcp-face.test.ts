import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { silentLog } from '../../kernel/log.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { makeInvoker, registryOf } from '../../testing/make-invoker.ts';
import { defineTool } from '../../tool/define-tool.ts';
import type { Part } from '../../tool/outcome.ts';
import { createToolsets } from '../../toolset/toolset.ts';
import { createMcpFace } from './mcp-face.ts';

const oddParts = [
  null,
  5,
  'x',
  { type: 'video' },
  { type: 'text', text: 5 },
  { type: 'text', text: 'kept', annotations: 'x' },
  { type: 'image', data: '!!!', mimeType: 'image/png' },
  { type: 'image', data: 'aGk=', mimeType: '../x' },
];

const open = (firstReady?: () => Promise<void>) => {
  const started = Promise.withResolvers<AbortSignal>();
  const registry = registryOf(
    defineTool({ name: 'echo', description: 'd', input: z.object({ t: z.string() }), execute: ({ t }) => t }),
    defineTool({ name: 'sum', description: 'd', output: z.object({ n: z.number() }), execute: () => ({ n: 1 }) }),
    defineTool({ name: 'array', description: 'd', execute: () => [1] }),
    defineTool({ name: 'fails', description: 'd', execute: () => Promise.reject(new Error('no')) }),
    defineTool({
      name: 'meta',
      description: 'd',
      execute: () => ({ status: 'done', parts: [], meta: { 'a.b/c': 1 } }),
    }),
    defineTool({
      name: 'odd',
      description: 'd',
      execute: () => ({ status: 'done', parts: oddParts as unknown as Part[] }),
    }),
    defineTool({
      name: 'steps',
      description: 'd',
      execute: (_args, { onProgress }) => {
        onProgress?.({ progress: 1, total: 2 });
        return 'stepped';
      },
    }),
    defineTool({
      name: 'waits',
      description: 'd',
      execute: async (_args, { signal }) => {
        const over = Promise.withResolvers<string>();
        signal?.addEventListener('abort', () => over.resolve('over'));
        if (signal) started.resolve(signal);
        return over.promise;
      },
    }),
  );
  const clock = fakeClock();
  const toolsets = createToolsets({ registry, log: silentLog });
  const invoker = makeInvoker(registry, { lookUp: toolsets.find, clock });
  const face = createMcpFace({ name: 'g', version: '1', toolsets, invoker, firstReady, clock, log: silentLog });
  return { face, started: started.promise, registry, clock };
};
type Face = ReturnType<typeof open>['face'];

const post = (face: Face, body: object, headers: Record<string, string>, signal?: AbortSignal): Promise<Response> =>
  face.handleHttp(
    new Request('http://localhost/mcp', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
      body: JSON.stringify({ jsonrpc: '2.0', ...body }),
      ...(signal && { signal }),
    }),
  );

/** The messages of a response, in whichever of the two forms they came. */
const messagesOf = async (response: Response): Promise<unknown[]> => {
  const text = await response.text();
  if (response.headers.get('content-type') !== 'text/event-stream') return [JSON.parse(text)];
  const data = text.split('\n').filter((line) => line.startsWith('data: '));
  return data.map((line) => JSON.parse(line.slice('data: '.length)) as unknown);
};

interface Sender {
  (face: Face, method: string, params: Record<string, unknown>, signal?: AbortSignal): Promise<Response>;
}

const modern: Sender = (face, method, params, signal) => {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'c', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
    ...(params['_meta'] as object | undefined),
  };
  const name = params['name'] as string | undefined;
  const headers = {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...(name !== undefined && { 'mcp-name': name }),
  };
  return post(face, { id: 7, method, params: { ...params, _meta } }, headers, signal);
};

const openSession = async (face: Face): Promise<string> => {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } };
  const response = await post(face, { id: 1, method: 'initialize', params }, {});
  await response.text();
  return response.headers.get('mcp-session-id') ?? '';
};

const inSession: Sender = async (face, method, params, signal) =>
  post(face, { id: 7, method, params }, { 'mcp-session-id': await openSession(face) }, signal);

describe.each([
  { revision: '2026-07-28', send: modern },
  { revision: '2025-11-25', send: inSession },
])('the lean lane in $revision', ({ send }) => {
  // A member that nobody knows makes the protocol server answer instead, and changes nothing else.
  it.each([
    { what: 'a list', method: 'tools/list', params: {} },
    { what: 'a text', method: 'tools/call', params: { name: 'echo', arguments: { t: 'x' } } },
    { what: 'a structured value', method: 'tools/call', params: { name: 'sum' } },
    { what: 'a value that is no object', method: 'tools/call', params: { name: 'array' } },
    { what: 'meta', method: 'tools/call', params: { name: 'meta' } },
    { what: 'odd blocks', method: 'tools/call', params: { name: 'odd' } },
    { what: 'a failure', method: 'tools/call', params: { name: 'fails' } },
    { what: 'refused arguments', method: 'tools/call', params: { name: 'echo' } },
    { what: 'an unknown tool', method: 'tools/call', params: { name: 'nope' } },
    { what: 'progress', method: 'tools/call', params: { name: 'steps', _meta: { progressToken: 'p' } } },
    { what: 'unwanted progress', method: 'tools/call', params: { name: 'steps' } },
  ])('answers $what like the protocol server', async ({ method, params }) => {
    const { face } = open();
    const lean = await send(face, method, params);
    const full = await send(face, method, { ...params, unknownMember: 1 });
    expect(lean.status).toBe(full.status);
    expect(await messagesOf(lean)).toEqual(await messagesOf(full));
  });

  it('gives a result with odd blocks, each as a text', async () => {
    const [message] = await messagesOf(await send(open().face, 'tools/call', { name: 'odd' }));
    const { content } = (message as { result: { content: { type: string; text: string }[] } }).result;
    expect(content).toHaveLength(oddParts.length);
    expect(new Set(content.map(({ type }) => type))).toEqual(new Set(['text']));
    expect(content[5]?.text).toBe('kept');
  });

  it('cancels what runs when the face is disposed, and ends the response without a result', async () => {
    const { face, started } = open();
    const response = send(face, 'tools/call', { name: 'waits' });
    const signal = await started;
    await face[Symbol.asyncDispose]();
    expect(signal.aborted).toBe(true);
    expect(await messagesOf(await response)).toEqual([]);
  });
});

it('cancels a call of 2026-07-28 when its request is closed', async () => {
  const { face, started } = open();
  const closed = new AbortController();
  const response = modern(face, 'tools/call', { name: 'waits' }, closed.signal);
  const signal = await started;
  closed.abort();
  expect(signal.aborted).toBe(true);
  expect(await messagesOf(await response)).toEqual([]);
});

it('lets a call of 2025-11-25 go on when its request is closed, and cancels it on a notice', async () => {
  const { face, started } = open();
  const session = { 'mcp-session-id': await openSession(face) };
  const closed = new AbortController();
  const call = { id: 9, method: 'tools/call', params: { name: 'waits' } };
  const response = post(face, call, session, closed.signal);
  const signal = await started;
  closed.abort();
  expect(signal.aborted).toBe(false);
  const cancelled = { method: 'notifications/cancelled', params: { requestId: 9, reason: 'enough' } };
  expect((await post(face, cancelled, session)).status).toBe(202);
  expect(signal.aborted).toBe(true);
  expect(await messagesOf(await response)).toEqual([]);
});

it.each([
  ['tools/list', { cursor: 5 }, 'params.cursor'],
  ['tools/call', { name: 5 }, 'params.name'],
])('says in plain words what is wrong with %s %j, as invalid params', async (method, params, place) => {
  const alone: Sender = (face, name, given) => post(face, { id: 7, method: name, params: given }, {});
  for (const send of [modern, inSession, alone]) {
    const [answer] = await messagesOf(await send(open().face, method, params));
    const { error } = answer as { error: { code: number; message: string } };
    expect(error.code).toBe(-32_602);
    expect(error.message).toMatch(new RegExp(`^Invalid .*${place}: invalid input: expected string, received number$`));
  }
});

describe('while servers are connected for the first time', () => {
  const late = defineTool({ name: 'late', description: 'd', execute: () => 'x' });
  const alone: Sender = (face, method, params) => post(face, { id: 7, method, params }, {});
  const senders = [modern, inSession, alone];

  it.each(senders)('lists their tools, and calls them, as soon as they are there', async (send) => {
    const ready = Promise.withResolvers<void>();
    const { face, registry } = open(() => ready.promise);
    const list = send(face, 'tools/list', {});
    const call = send(face, 'tools/call', { name: 'late' });
    const known = await messagesOf(await send(face, 'tools/call', { name: 'echo', arguments: { t: 'at once' } }));
    expect(JSON.stringify(known)).toContain('at once');
    registry.register(late.registration, late.executor);
    ready.resolve();
    expect(JSON.stringify(await messagesOf(await list))).toContain('"late"');
    expect(JSON.stringify(await messagesOf(await call))).toContain('"x"');
  });

  it.each(senders)('waits no longer than 3 s after the start', async (send) => {
    const { face, clock } = open(() => new Promise(() => {}));
    const list = send(face, 'tools/list', {});
    await clock.advance(3_000);
    expect(JSON.stringify(await messagesOf(await list))).toContain('"echo"');
    expect(JSON.stringify(await messagesOf(await send(face, 'tools/list', {})))).toContain('"echo"');
  });
});
