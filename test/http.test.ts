import { connect } from 'node:net';
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { oneToken } from '../packages/gantry/src/http/authenticate.ts';
import type { ServedFace } from './fixtures/serve-face.ts';
import { serveFace } from './fixtures/serve-face.ts';

let served: ServedFace;
beforeAll(async () => {
  served = await serveFace({
    http: {
      allowedHosts: ['gantry.example'],
      allowedOrigins: ['https://app.example'],
      metrics: () => 'up 1\n',
      mountApi: (app) => {
        app.post('/api/v1/echo', async (c) => c.json(await c.req.json()));
        app.get('/api/v1/fails', () => {
          throw new Error('secret detail');
        });
      },
    },
  });
});
afterAll(() => served[Symbol.asyncDispose]());

const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
};
const post = (body: unknown, headers: Record<string, string> = {}, url: URL = served.url): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    headers: { ...json, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

/** A request with headers that fetch does not let a program set. */
const raw = async (
  path: string,
  headers: Record<string, string>,
): Promise<{ status: number | undefined; body: string; headers: Record<string, unknown> }> => {
  const request = httpRequest(new URL(path, served.url), { headers });
  request.end();
  const [response] = await once(request, 'response');
  return { status: response.statusCode, body: await text(response), headers: response.headers };
};

describe('the routes', () => {
  it('explain at / what runs and how to connect', async () => {
    const response = await fetch(new URL('/', served.url));
    expect(response.headers.get('content-type')).toMatch('text/html');
    expect(await response.text()).toContain(`<pre>${served.url.href}</pre>`);
  });

  it('answer liveness, readiness and metrics', async () => {
    expect(await (await fetch(new URL('/healthz', served.url))).json()).toEqual({ status: 'ok' });
    expect(await (await fetch(new URL('/readyz', served.url))).json()).toEqual({ status: 'ready' });
    expect(await (await fetch(new URL('/metrics', served.url))).text()).toBe('up 1\n');
  });

  it('say why the gateway is not ready, also when that cannot be found out', async () => {
    let reasons = (): readonly string[] => ['the store is closed'];
    await using own = await serveFace({ http: { notReady: () => reasons() } });
    const ready = async (): Promise<unknown> => {
      const response = await fetch(new URL('/readyz', own.url));
      return [response.status, await response.json()];
    };
    expect(await ready()).toEqual([503, { status: 'not ready', reasons: ['the store is closed'] }]);
    reasons = () => {
      throw new Error('no store');
    };
    expect(await ready()).toEqual([503, { status: 'not ready', reasons: ['no store'] }]);
  });

  it('carry the API that is mounted, and hide what goes wrong in it', async () => {
    const echoed = await post({ a: 1 }, {}, new URL('/api/v1/echo', served.url));
    expect(await echoed.json()).toEqual({ a: 1 });
    const failed = await fetch(new URL('/api/v1/fails', served.url));
    expect(failed.status).toBe(500);
    expect(await failed.text()).not.toContain('secret');
  });

  it('answer 404 for what is not there', async () => {
    const response = await fetch(new URL('/nope', served.url));
    expect([response.status, await response.json()]).toEqual([
      404,
      { error: { code: 'not_found', message: 'There is nothing at /nope.', isRetryable: false } },
    ]);
  });
});

describe('Host and Origin', () => {
  it.each([
    { host: '127.0.0.1', status: 200 },
    { host: 'localhost:9', status: 200 },
    { host: '[::1]:9', status: 200 },
    { host: 'gantry.example', status: 200 },
    { host: 'GANTRY.example:80', status: 200 },
    { host: 'evil.example', status: 403 },
    { host: 'localhost.evil.example', status: 403 },
    { host: '127.0.0.1.evil.example', status: 403 },
    { host: '10.0.0.1', status: 403 },
  ])('a request for $host is answered $status', async ({ host, status }) => {
    expect((await raw('/healthz', { host })).status).toBe(status);
    expect((await raw('/', { host })).status).toBe(status);
  });

  it.each([
    { origin: 'http://localhost:7420', status: 200 },
    { origin: 'https://localhost:7420', status: 200 },
    { origin: 'https://app.example', status: 200 },
    { origin: 'http://localhost:7421', status: 403 },
    { origin: 'http://app.example', status: 403 },
    { origin: 'https://evil.example', status: 403 },
    { origin: 'null', status: 403 },
    { origin: 'file://localhost:7420', status: 403 },
  ])('a page of $origin is answered $status', async ({ origin, status }) => {
    expect((await raw('/healthz', { host: 'localhost:7420', origin })).status).toBe(status);
  });

  it('lets pages of an allowed origin, and no others, read answers', async () => {
    const preflight = (origin: string): Promise<Response> =>
      fetch(served.url, { method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'POST' } });
    const allowed = await preflight('https://app.example');
    expect([allowed.status, allowed.headers.get('access-control-allow-origin')]).toEqual([204, 'https://app.example']);
    expect((await preflight('https://evil.example')).status).toBe(403);
  });

  it('refuse to listen for others without a token', async () => {
    await expect(serveFace({ http: { host: '0.0.0.0' } })).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining('GANTRY_TOKEN'),
    });
  });
});

describe('a token', () => {
  let guarded: ServedFace;
  beforeAll(async () => {
    guarded = await serveFace({ http: { authenticate: oneToken('s3cret', 'alice') } });
  });
  afterAll(() => guarded[Symbol.asyncDispose]());

  it.each([
    { header: undefined, challenge: 'Bearer' },
    { header: 'Basic s3cret', challenge: 'Bearer' },
    { header: 'Bearer wrong', challenge: 'Bearer error="invalid_token"' },
    { header: 'Bearer s3cret2', challenge: 'Bearer error="invalid_token"' },
    { header: 'Bearer', challenge: 'Bearer' },
  ])('is asked for when $header is sent', async ({ header, challenge }) => {
    const response = await post(initialize, header === undefined ? {} : { authorization: header }, guarded.url);
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, challenge]);
  });

  it('is not asked for by the page and the probes, but by everything else', async () => {
    const status = async (path: string): Promise<number> => (await fetch(new URL(path, guarded.url))).status;
    expect(await Promise.all(['/', '/healthz', '/readyz', '/metrics', '/mcp', '/x'].map(status))).toEqual([
      200, 200, 200, 401, 401, 401,
    ]);
  });

  it.each(['legacy', 'auto'] as const)('tells a call its client (%s)', async (mode) => {
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
    const requestInit = { headers: { authorization: 'bearer s3cret' } };
    await client.connect(new StreamableHTTPClientTransport(guarded.url, { requestInit }));
    expect((await client.callTool({ name: 'whoami' })).content).toEqual([{ type: 'text', text: 'alice' }]);
    await client.close();
  });
});

describe('/mcp', () => {
  it('answers an unknown mode 400 with the modes there are', async () => {
    const response = await post(initialize, {}, new URL('?mode=fancy', served.url));
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { error: { message: 'There is no mode "fancy"; use one of auto, off, eager, lazy, pinned.' } },
    ]);
  });

  it.each(['auto', 'off', 'eager', 'lazy', 'pinned'])('takes mode=%s', async (mode) => {
    expect((await post(initialize, {}, new URL(`?mode=${mode}`, served.url))).status).toBe(200);
  });

  it.each([
    { hostile: 'text that is no JSON', body: '{"jsonrpc":', status: 400, code: -32_700 },
    { hostile: 'an empty body', body: '', status: 400, code: -32_700 },
    { hostile: 'JSON that is no message', body: '[1,2]', status: 400, code: undefined },
    { hostile: 'a bare null', body: 'null', status: 400, code: undefined },
    { hostile: 'a message without method', body: '{"jsonrpc":"2.0","id":1}', status: 400, code: undefined },
    { hostile: 'a body above the limit', body: `"${'x'.repeat(4 * 1024 * 1024)}"`, status: 413, code: -32_000 },
    {
      hostile: 'an empty batch',
      body: '[]',
      status: 400,
      code: undefined,
    },
  ])('answers $hostile with $status', async ({ body, status, code }) => {
    const response = await post(body);
    const answer = (await response.json()) as { error: { code: number } };
    expect(response.status).toBe(status);
    if (code === undefined) expect(answer.error.code).toBeLessThan(-32_000 + 1);
    else expect(answer.error.code).toBe(code);
  });

  it('answers another content type 415, whatever the body', async () => {
    expect((await post(initialize, { 'content-type': 'text/plain' })).status).toBe(415);
  });

  it('stops reading a body that does not say its size once it is too large', async () => {
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(1024 * 1024)),
    });
    const response = fetch(served.url, { method: 'POST', headers: json, body, duplex: 'half' });
    expect((await response).status).toBe(413);
  });

  it.each(['GET', 'POST', 'DELETE'])('answers %s in an unknown session 404', async (method) => {
    const response = await fetch(served.url, {
      method,
      headers: { ...json, 'mcp-session-id': 'nope' },
      ...(method === 'POST' && { body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' }),
    });
    expect([response.status, await response.json()]).toMatchObject([404, { error: { code: -32_001 } }]);
  });

  it.each(['GET', 'PUT', 'DELETE', 'PATCH'])('answers %s without a session 405', async (method) => {
    expect((await fetch(served.url, { method, headers: json })).status).toBe(405);
  });

  it('lets a client end its session, which is unknown from then on', async () => {
    const opened = await post(initialize);
    const id = opened.headers.get('mcp-session-id') ?? '';
    await opened.text();
    const inSession = { ...json, 'mcp-session-id': id };
    expect((await fetch(served.url, { method: 'DELETE', headers: inSession })).status).toBe(200);
    expect((await post({ jsonrpc: '2.0', id: 2, method: 'ping' }, inSession)).status).toBe(404);
  });

  it('lets a client listen again after its stream broke, and one stream at a time', async () => {
    const opened = await post(initialize);
    await opened.text();
    const headers = { ...json, 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' };
    const listen = (signal?: AbortSignal): Promise<Response> =>
      fetch(served.url, { headers, ...(signal && { signal }) });
    const broken = new AbortController();
    expect((await listen(broken.signal)).status).toBe(200);
    expect((await listen()).status).toBe(409);
    broken.abort();
    // The listener learns of the break a moment later.
    let status = 409;
    for (let attempts = 0; status === 409 && attempts < 500; attempts += 1) status = (await listen()).status;
    expect(status).toBe(200);
  });

  it('serves a plain request without any handshake', async () => {
    const params = { name: 'echo', arguments: { text: 'hi' } };
    const response = await post({ jsonrpc: '2.0', id: 7, method: 'tools/call', params });
    expect(await response.text()).toContain('"text":"hi"');
  });

  it('carries the trace of a call on', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const params = { name: 'whoami', _meta: { traceparent, tracestate: 'a=b' } };
    await (await post({ jsonrpc: '2.0', id: 7, method: 'tools/call', params })).text();
    expect(served.contexts.at(-1)?.trace).toEqual({ traceparent, tracestate: 'a=b' });
  });

  it('refuses a cursor, since there is one page', async () => {
    const response = await post({ jsonrpc: '2.0', id: 7, method: 'tools/list', params: { cursor: 'x' } });
    expect(await response.text()).toContain('"code":-32602');
  });

  it('answers headers above the limit 431', async () => {
    expect((await raw('/healthz', { 'x-long': 'x'.repeat(20_000) })).status).toBe(431);
  });

  it('survives bytes that are no HTTP', async () => {
    const socket = connect(served.server.port, '127.0.0.1');
    socket.end('\u0000\u0001garbage\r\n\r\n');
    expect(await text(socket)).toMatch('400 Bad Request');
    expect((await fetch(new URL('/healthz', served.url))).status).toBe(200);
  });
});

describe('the listener', () => {
  it('names the port that is in use and the way out', async () => {
    const { port } = served.server;
    await expect(serveFace({ http: { port } })).rejects.toMatchObject({
      code: 'port_in_use',
      message: `Port ${port} on 127.0.0.1 is in use by another program; stop it or choose another with --port.`,
      details: { host: '127.0.0.1', port },
    });
  });

  it('names an address that it cannot have', async () => {
    await expect(serveFace({ http: { host: '203.0.113.1', authenticate: oneToken('t', 'c') } })).rejects.toMatchObject({
      code: 'config_invalid',
    });
  });

  it('lets a running call end before it stops, and takes no new ones', async () => {
    const running = Promise.withResolvers<void>();
    const finish = Promise.withResolvers<void>();
    const own = await serveFace({
      http: {
        mountApi: (app) =>
          app.get('/api/v1/slow', async (c) => {
            running.resolve();
            await finish.promise;
            return c.text('done');
          }),
      },
    });
    const slow = fetch(new URL('/api/v1/slow', own.url));
    await running.promise;
    const stopped = own.server.stop(60_000);
    await expect(fetch(new URL('/healthz', own.url))).rejects.toThrow();
    finish.resolve();
    expect(await (await slow).text()).toBe('done');
    await stopped;
    await own[Symbol.asyncDispose]();
  });

  it('has calls answered that its grace was too short for, and closes then', async () => {
    const running = Promise.withResolvers<void>();
    const aborted = Promise.withResolvers<void>();
    const own = await serveFace({
      http: {
        abortCalls: aborted.resolve,
        mountApi: (app) =>
          app.get('/api/v1/slow', async (c) => {
            running.resolve();
            await aborted.promise;
            return c.text('it was ended');
          }),
      },
    });
    const slow = fetch(new URL('/api/v1/slow', own.url));
    await running.promise;
    const stopped = own.server.stop(1);
    expect(await (await slow).text()).toBe('it was ended');
    await stopped;
    await own[Symbol.asyncDispose]();
  });

  it.each(['legacy', 'auto'] as const)('is not held up by clients that wait for notices (%s)', async (mode) => {
    const own = await serveFace();
    const client = new Client(
      { name: 'test', version: '1' },
      { versionNegotiation: { mode }, listChanged: { tools: { onChanged: () => {} } } },
    );
    await client.connect(new StreamableHTTPClientTransport(own.url));
    await client.callTool({ name: 'nothing' });
    await own.server.stop(60_000);
    await client.close();
    await own[Symbol.asyncDispose]();
  });

  it('cuts what is still running when the grace is over', async () => {
    await using own = await serveFace();
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
    await client.connect(new StreamableHTTPClientTransport(own.url));
    const refused = expect(client.callTool({ name: 'wait' })).rejects.toThrow();
    const { cancelled } = await own.waiting;
    await own.server.stop(1);
    await refused;
    expect(await cancelled).toMatchObject({ code: 'cancelled' });
  });
});
