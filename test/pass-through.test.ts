import { fileURLToPath } from 'node:url';
import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { GantryFolder, ServingGantry } from './fixtures/gantry-process.ts';
import { makeGantryFolder } from './fixtures/gantry-process.ts';
import { startModernRawServer } from './fixtures/modern-raw-server.ts';
import { startAskingServer } from './fixtures/asking-server.ts';
import type { Script } from './fixtures/raw-server.ts';
import { startRawServer, written } from './fixtures/raw-server.ts';
import { startModernServer } from './fixtures/modern-server.ts';
import { startOlderAskingServer } from './fixtures/older-servers.ts';

const stdioProgram = fileURLToPath(new URL('./fixtures/stdio-server.ts', import.meta.url));

let folder: GantryFolder;
let open: AsyncDisposableStack;
beforeEach(() => {
  folder = makeGantryFolder();
  open = new AsyncDisposableStack();
});
afterEach(async () => {
  await open.disposeAsync();
  folder[Symbol.dispose]();
});

const serve = async (mcpServers: object): Promise<ServingGantry> => {
  folder.write('mcp.json', { mcpServers });
  return open.use(await folder.serve());
};

const modernHeaders = (method: string, name?: string) => ({
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': method,
  ...(name !== undefined && { 'mcp-name': name }),
});
const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 't', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
};

/** What two addresses answer to the same message: status and text. */
const ask = async (url: string, method: string, params: object, name?: string): Promise<[number, string]> => {
  const response = await fetch(url, {
    method: 'POST',
    headers: modernHeaders(method, name),
    body: JSON.stringify({ jsonrpc: '2.0', id: 7, method, params: { ...params, _meta: meta } }),
  });
  return [response.status, await response.text()];
};

describe('a client of 2026 that is passed through to a server of 2026', () => {
  it.each([
    ['server/discover', {}, undefined],
    ['tools/list', {}, undefined],
    ['tools/call', { name: 'echo', arguments: { text: 'hé\u2028llo' } }, 'echo'],
    ['tools/call', { name: 'add', arguments: { a: 1, b: 2 } }, 'add'],
    ['tools/call', { name: 'picture', arguments: {} }, 'picture'],
    ['tools/call', { name: 'fail', arguments: {} }, 'fail'],
    ['tools/call', { name: 'no-such-tool', arguments: {} }, 'no-such-tool'],
    ['tools/call', { name: 'ask', arguments: {} }, 'ask'],
    ['prompts/get', { name: 'greet', arguments: { who: 'you' } }, 'greet'],
    ['resources/read', { uri: 'docs://readme' }, 'docs://readme'],
    ['no/such', {}, undefined],
  ])('gets the answer to %s %j byte for byte as from the server itself', async (method, params, name) => {
    const server = open.use(await startModernServer());
    const gateway = await serve({ s: { url: server.url } });
    const direct = await ask(server.url, method, params, name);
    expect(await ask(`${gateway.url}/mcp/s`, method, params, name)).toEqual(direct);
  });

  it('answers the questions of the server itself', async () => {
    const server = open.use(await startAskingServer());
    const gateway = await serve({ s: { url: server.url } });
    const client = new ModernClient(
      { name: 't', version: '1' },
      { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: 'auto' } },
    );
    client.setRequestHandler('elicitation/create', async () => ({ action: 'accept', content: { seats: 3 } }));
    await client.connect(new ModernTransport(new URL(`${gateway.url}/mcp/S`)));
    const result = await client.callTool({ name: 'book', arguments: { show: 'Hamlet' } });
    expect(result.content).toEqual([{ type: 'text', text: 'booked 3 for Hamlet' }]);
    await client.close();
  });

  it('is told that a request may have been carried out when its connection broke', async () => {
    const server = open.use(
      await startModernRawServer('book', (_request, response) => {
        response.destroy();
        return written;
      }),
    );
    const gateway = await serve({ s: { url: server.url } });
    const [status, text] = await ask(`${gateway.url}/mcp/s`, 'tools/call', { name: 'book', arguments: {} }, 'book');
    expect(status).toBe(502);
    expect(JSON.parse(text)).toMatchObject({
      id: 7,
      error: {
        message: expect.stringMatching(
          /^The connection to server "s" broke before it answered \(.+\); whether the request was carried out is unknown\.$/,
        ) as string,
      },
    });
    expect(server.count('tools/call')).toBe(1);
  });

  it.each<[string, Script, RegExp]>([
    [
      'breaks off behind its head',
      (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': 100 });
        response.write('{"jsonrpc"', () => response.destroy());
        return written;
      },
      /^The connection to server "s" broke before its answer was whole \(.+\); whether the request was carried out is unknown\.$/,
    ],
    [
      'is packed wrongly',
      (_request, response) => {
        response
          .writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
          .end('{"jsonrpc":"2.0"}');
        return written;
      },
      /^Server "s" answered, but its answer cannot be read \(.+\); whether the request was carried out is unknown\.$/,
    ],
  ])('is told that a request may have been carried out when its answer %s', async (_what, script, said) => {
    const server = open.use(await startModernRawServer('book', script));
    const gateway = await serve({ s: { url: server.url } });
    const [status, text] = await ask(`${gateway.url}/mcp/s`, 'tools/call', { name: 'book', arguments: {} }, 'book');
    expect(status).toBe(502);
    expect(JSON.parse(text)).toMatchObject({ id: 7, error: { message: expect.stringMatching(said) as string } });
    expect(server.count('tools/call')).toBe(1);
  });

  it('never hears of a question for a credential, which is declined', async () => {
    const server = open.use(await startAskingServer());
    const gateway = await serve({ s: { url: server.url } });
    const [status, text] = await ask(`${gateway.url}/mcp/s`, 'tools/call', { name: 'login', arguments: {} }, 'login');
    expect([status, text]).toEqual([200, expect.stringContaining('"text":"decline"') as unknown]);
    expect(server.answers).toEqual([{ action: 'decline' }]);
  });
});

describe('a client of 2025 that is passed through', () => {
  it('keeps the session of the server, which travels sealed in its own', async () => {
    const server = open.use(await startOlderAskingServer());
    const gateway = await serve({ s: { url: server.url } });
    const client = new OldClient({ name: 't', version: '1' }, { capabilities: { elicitation: {} } });
    client.setRequestHandler(ElicitRequestSchema, async ({ params }) => ({
      action: 'accept',
      content: { mailbox: params.message === 'Which mailbox?' ? 'home' : 'work' },
    }));
    const transport = new OldTransport(new URL(`${gateway.url}/mcp/s`));
    await client.connect(transport);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['send', 'wait', 'crash']);
    const result = await client.callTool({ name: 'send', arguments: {} });
    expect(JSON.stringify(result.content)).toContain('home');
    expect(transport.sessionId).toMatch(/^[\w.-]+$/);
    await client.close();
  });

  it('is told that a session that is none of its own does not exist', async () => {
    const server = open.use(await startOlderAskingServer());
    const gateway = await serve({ s: { url: server.url } });
    const response = await fetch(`${gateway.url}/mcp/s`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-session-id': 'x.y',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    });
    expect([response.status, await response.json()]).toMatchObject([404, { error: { code: -32_001 } }]);
  });
});

describe('a stream of events for a client of 2025', () => {
  const broken =
    (head: Readonly<Record<string, string>>, text: string | Buffer): Script =>
    (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', ...head });
      response.write(text, () => response.destroy());
      return written;
    };
  const callOf = async (script: Script): Promise<Response> => {
    const server = open.use(await startRawServer({ 'tools/call': script }));
    const gateway = await serve({ s: { url: server.url } });
    return await fetch(`${gateway.url}/mcp/s`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2025-11-25',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'a', arguments: {} } }),
    });
  };

  it.each([
    ['breaks off', {}, ': here\n\ndata: {"jsonrpc"', 'broke before its answer was whole'],
    ['is packed wrongly', { 'content-encoding': 'gzip' }, 'id: 1\ndata: {}\n\n', 'its answer cannot be read'],
  ])('answers its request with the reason when it %s', async (_what, head, text, reason) => {
    const said = await (await callOf(broken(head, text))).text();
    const answer = JSON.parse(said.slice(said.lastIndexOf('data:') + 'data:'.length)) as unknown;
    expect(answer).toMatchObject({ id: 7, error: { message: expect.stringContaining(reason) as string } });
  });

  it('only ends when it breaks off behind an event with an id, from which the client goes on', async () => {
    const event = 'id: e1\ndata: \n\n';
    const response = await callOf(broken({}, event));
    await expect(response.text()).rejects.toThrow();
  });
});

describe('policy on the way through', () => {
  it('remembers every call: who made it, of what, and how it ended', async () => {
    const server = open.use(await startModernServer());
    const gateway = await serve({ s: { url: server.url } });
    await ask(
      `${gateway.url}/mcp/s`,
      'tools/call',
      { name: 'echo', arguments: { text: 'hi', password: 'p4ss' } },
      'echo',
    );
    await ask(`${gateway.url}/mcp/s`, 'tools/call', { name: 'fail', arguments: {} }, 'fail');
    await ask(`${gateway.url}/mcp/s`, 'tools/call', { name: 'made-up', arguments: {} }, 'made-up');
    const listed = (await (await fetch(`${gateway.url}/api/v1/executions`)).json()) as { executions: object[] };
    expect(listed.executions).toMatchObject([
      { toolName: 's__unknown', caller: 'passthrough', status: 'failed' },
      { toolName: 's__fail', caller: 'passthrough', status: 'failed' },
      { toolName: 's__echo', caller: 'passthrough', status: 'done' },
    ]);
    expect(JSON.stringify(listed)).not.toContain('p4ss');
  });

  it('hides tools that the entry filters out, and calls none of them', async () => {
    const server = open.use(await startModernServer());
    const gateway = await serve({ s: { url: server.url, allowedTools: ['echo'] } });
    const [, listed] = await ask(`${gateway.url}/mcp/s`, 'tools/list', {});
    const { result } = JSON.parse(listed) as { result: { tools: { name: string }[] } };
    expect(result.tools.map(({ name }) => name)).toEqual(['echo']);
    const [, called] = await ask(`${gateway.url}/mcp/s`, 'tools/call', { name: 'picture', arguments: {} }, 'picture');
    expect(JSON.parse(called)).toMatchObject({ error: { code: -32_602, message: 'Tool picture not found' } });
  });

  it('holds arguments to the guards of the entry', async () => {
    const server = open.use(await startModernServer());
    const guard = { handler: 'json-schema', options: { schema: { properties: { text: { maxLength: 3 } } } } };
    const gateway = await serve({ s: { url: server.url, argGuards: [guard] } });
    const call = (text: string) =>
      ask(`${gateway.url}/mcp/s`, 'tools/call', { name: 'echo', arguments: { text } }, 'echo');
    expect((await call('ok'))[1]).toContain('"ok"');
    expect(JSON.parse((await call('too long'))[1])).toMatchObject({ result: { isError: true } });
  });

  it('is not got around by several messages at once, or by a member that is written twice', async () => {
    const server = open.use(await startModernServer());
    const gateway = await serve({ s: { url: server.url, deniedTools: ['echo'] } });
    const post = async (body: string): Promise<[number, unknown]> => {
      const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
      const response = await fetch(`${gateway.url}/mcp/s`, { method: 'POST', headers, body });
      return [response.status, await response.json()];
    };
    const echo = { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'echo', arguments: { text: 'x' } } };
    const refusal = (message: string) => [400, { error: { code: -32_600, message } }];
    expect(await post(JSON.stringify([echo]))).toMatchObject(
      refusal('Send one JSON-RPC message at a time; batches are not passed on.'),
    );
    const twice = JSON.stringify(echo).replace('"name":"echo"', '"name":"echo","name":"add"');
    expect(await post(twice)).toMatchObject(refusal('A member of the message is written twice; write it once.'));
  });

  it('says which server is not there, and why one cannot be used', async () => {
    const gateway = await serve({ prog: { command: 'true' } });
    expect((await ask(`${gateway.url}/mcp/none`, 'tools/list', {}))[0]).toBe(404);
    const [status, text] = await ask(`${gateway.url}/mcp/prog`, 'tools/list', {});
    expect([status, text]).toEqual([404, expect.stringContaining('launching programs is off') as unknown]);
  });
});

describe('a client and a server of different generations', () => {
  it('meet in the words of the client: one of 2026 calls a server of 2025', async () => {
    const server = open.use(await startOlderAskingServer());
    const gateway = await serve({ s: { url: server.url, elicitation: { defaults: { mailbox: 'work' } } } });
    const client = new ModernClient(
      { name: 't', version: '1' },
      { versionNegotiation: { mode: { pin: '2026-07-28' } } },
    );
    await client.connect(new ModernTransport(new URL(`${gateway.url}/mcp/s`)));
    expect(client.getServerVersion()).toMatchObject({ name: 'older' });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['send', 'wait', 'crash']);
    const result = await client.callTool({ name: 'send', arguments: {} });
    expect(JSON.stringify(result.content)).toContain('work');
    await expect(client.callTool({ name: 'none', arguments: {} })).resolves.toMatchObject({ isError: true });
    await client.close();
  });

  it('meet in the words of the client: one of 2025 answers what a server of 2026 asks', async () => {
    const asked: unknown[] = [];
    const server = open.use(
      await startModernRawServer('book', ({ params }) => {
        asked.push(params?.['inputResponses']);
        if (params?.['inputResponses']) return { resultType: 'complete', content: [{ type: 'text', text: 'booked' }] };
        const requestedSchema = { type: 'object', properties: { seats: { type: 'integer' } } };
        const request = { method: 'elicitation/create', params: { message: 'How many?', requestedSchema } };
        return { resultType: 'input_required', inputRequests: { k: request }, requestState: 'st' };
      }),
    );
    const gateway = await serve({ s: { url: server.url } });
    const client = new OldClient({ name: 't', version: '1' }, { capabilities: { elicitation: {} } });
    client.setRequestHandler(ElicitRequestSchema, async () => ({ action: 'accept', content: { seats: 2 } }));
    await client.connect(new OldTransport(new URL(`${gateway.url}/mcp/s`)));
    const result = await client.callTool({ name: 'book', arguments: {} });
    expect(result).toMatchObject({ content: [{ type: 'text', text: 'booked' }] });
    expect(asked).toEqual([undefined, { k: { action: 'accept', content: { seats: 2 } } }]);
    await client.close();
  });

  it.each(['2026', '2025'])('a client of %s reaches a program', async (generation) => {
    folder.write('gantry.config.json', { mcp: { stdio: 'launch' } });
    const gateway = await serve({ s: { command: process.execPath, args: [stdioProgram, 'plain'] } });
    const url = new URL(`${gateway.url}/mcp/s`);
    const modern = new ModernClient(
      { name: 't', version: '1' },
      { versionNegotiation: { mode: { pin: '2026-07-28' } } },
    );
    const old = new OldClient({ name: 't', version: '1' });
    if (generation === '2026') await modern.connect(new ModernTransport(url));
    else await old.connect(new OldTransport(url));
    const client = generation === '2026' ? modern : old;
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('pids');
    expect(await client.callTool({ name: 'pids', arguments: {} })).toMatchObject({ content: [{ type: 'text' }] });
    await client.close();
  });
});
