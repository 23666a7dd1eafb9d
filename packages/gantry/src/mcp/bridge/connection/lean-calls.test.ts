import type { FetchLike, JSONRPCMessage } from '@modelcontextprotocol/client';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { withLeanCalls } from './lean-calls.ts';

const url = new URL('https://server.example/mcp');
const call = (id: number, params: Record<string, unknown> = { name: 'look' }) =>
  ({ jsonrpc: '2.0', id, method: 'tools/call', params }) as const;
const resultOf = (id: number) => ({ jsonrpc: '2.0', id, result: { content: [] } });
const stream = (...messages: unknown[]): Response =>
  new Response(messages.map((one) => `data: ${JSON.stringify(one)}\n\n`).join(''), {
    headers: { 'content-type': 'text/event-stream' },
  });

const open = async (answer: FetchLike, headers: Record<string, string> = {}) => {
  const requests: { readonly headers: Headers; readonly body: string; readonly signal: AbortSignal | undefined }[] = [];
  const heard: JSONRPCMessage[] = [];
  const errors: Error[] = [];
  const news = new EventTarget();
  const transport = withLeanCalls({
    url,
    headers,
    fetch: async (to, init) => {
      const { signal } = init ?? {};
      requests.push({ headers: new Headers(init?.headers), body: init?.body as string, signal: signal ?? undefined });
      return await answer(to, init);
    },
    open: (fetch) => new StreamableHTTPClientTransport(url, { fetch, requestInit: { headers } }),
  });
  transport.onmessage = (message) => {
    heard.push(message);
    news.dispatchEvent(new Event('heard'));
  };
  transport.onerror = (error) => errors.push(error);
  await transport.start();
  const untilHeard = (count: number): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (heard.length >= count) resolve();
      };
      news.addEventListener('heard', look);
      look();
    });
  return { transport, requests, heard, errors, untilHeard };
};

describe('a call that is answered with JSON', () => {
  it('says what the SDK would say, and its answer is heard', async () => {
    const { transport, requests, heard } = await open(async () => Response.json(resultOf(7)), {
      Accept: 'text/plain',
      'X-Team': 'blue',
    });
    transport.setProtocolVersion('2025-11-25');
    await transport.send(call(7));
    expect(heard).toEqual([resultOf(7)]);
    expect(Object.fromEntries(requests[0]?.headers ?? [])).toEqual({
      accept: 'text/plain, application/json, text/event-stream',
      'content-type': 'application/json',
      'mcp-protocol-version': '2025-11-25',
      'x-team': 'blue',
    });
    expect(JSON.parse(requests[0]?.body ?? '')).toEqual(call(7));
  });

  it('of 2026 says its method and tool in headers, and those of its arguments', async () => {
    const { transport, requests } = await open(async () => Response.json(resultOf(1)));
    const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
    await transport.send(call(1, { name: 'grüßen', _meta: meta }), { headers: { 'Mcp-Param-City': 'Oslo' } });
    expect(Object.fromEntries(requests[0]?.headers ?? [])).toMatchObject({
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': `=?base64?${Buffer.from('grüßen').toString('base64')}?=`,
      'mcp-param-city': 'Oslo',
    });
  });

  it('carries the session that the server opened', async () => {
    const { transport, requests } = await open(async (_to, init) => {
      const { id, method } = JSON.parse(init?.body as string) as { id: number; method: string };
      return Response.json(resultOf(id), method === 'initialize' ? { headers: { 'mcp-session-id': 's1' } } : {});
    });
    await transport.send({
      jsonrpc: '2.0',
      id: 0,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'a', version: '1' } },
    });
    await transport.send(call(1));
    expect(requests[1]?.headers.get('mcp-session-id')).toBe('s1');
  });

  it('gives an error of the server as an answer', async () => {
    const refused = { jsonrpc: '2.0', id: 2, error: { code: -32_602, message: 'no such tool' } } as const;
    const { transport, heard } = await open(async () => Response.json(refused));
    await transport.send(call(2));
    expect(heard).toEqual([refused]);
  });
});

describe('a call that is answered in another way is the SDK transport’s, and is sent once', () => {
  it('as a stream of events', async () => {
    const progress = { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 3, progress: 1 } };
    const { transport, requests, heard, untilHeard } = await open(async () => stream(progress, resultOf(3)));
    await transport.send(call(3));
    await untilHeard(2);
    expect(heard).toEqual([progress, resultOf(3)]);
    expect(requests).toHaveLength(1);
  });

  it('with a status', async () => {
    const { transport, requests, errors } = await open(async () => new Response('gone', { status: 404 }));
    await expect(transport.send(call(4))).rejects.toMatchObject({ data: { status: 404 } });
    expect([requests.length, errors.length]).toEqual([1, 1]);
  });

  it.each([
    ['a result that is no object', { jsonrpc: '2.0', id: 5, result: [] }],
    ['an answer that is no JSON-RPC', { hello: 'world' }],
  ])('with %s', async (_what, answer) => {
    const { transport, requests, heard } = await open(async () => Response.json(answer));
    await expect(transport.send(call(5))).rejects.toThrow();
    expect([requests.length, heard]).toEqual([1, []]);
  });

  it('with nothing but a closed connection', async () => {
    const { transport, errors } = await open(async () => {
      throw new TypeError('fetch failed');
    });
    await expect(transport.send(call(6))).rejects.toThrow('fetch failed');
    expect(errors).toHaveLength(1);
  });
});

describe('a call that runs', () => {
  const silent: FetchLike = (_to, init) =>
    new Promise((_resolve, reject) => {
      const { signal } = init ?? {};
      signal?.addEventListener('abort', () => reject(new Error('aborted')));
    });

  it('ends with its signal, of which nothing is reported', async () => {
    const { transport, errors } = await open(silent);
    const controller = new AbortController();
    const sent = transport.send(call(8), { requestSignal: controller.signal });
    controller.abort();
    await expect(sent).rejects.toThrow('aborted');
    expect(errors).toEqual([]);
  });

  it('ends with the transport', async () => {
    const { transport } = await open(silent);
    const sent = transport.send(call(9));
    await transport.close();
    await expect(sent).rejects.toThrow('aborted');
  });

  it('ends with the transport while its stream is open', async () => {
    let signal: AbortSignal | null | undefined;
    const { transport, untilHeard } = await open(async (_to, init) => {
      ({ signal } = init ?? {});
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => {
          const notice = { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'on it' } };
          controller.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(notice)}\n\n`));
        },
      });
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    });
    await transport.send(call(10));
    await untilHeard(1);
    expect(signal?.aborted).toBe(false);
    await transport.close();
    expect(signal?.aborted).toBe(true);
  });
});
