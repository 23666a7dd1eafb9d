import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { GantryFolder } from './fixtures/gantry-process.ts';
import { makeGantryFolder } from './fixtures/gantry-process.ts';
import { startModernRawServer } from './fixtures/modern-raw-server.ts';
import type { RawServer, Script } from './fixtures/raw-server.ts';
import { startRawServer, writeEvent, written } from './fixtures/raw-server.ts';

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

const capabilities = { tools: {}, prompts: {}, completions: {} };
const complete = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };
const prompts: Readonly<Record<string, Script>> = {
  'prompts/list': () => ({ ...complete, prompts: [{ name: 'plan' }, { name: 'secret' }] }),
  'prompts/get': ({ params }) => ({
    ...complete,
    messages: [{ role: 'user', content: { type: 'text', text: `filled ${String(params?.['name'])}` } }],
  }),
  'completion/complete': () => ({ ...complete, completion: { values: ['completed'] } }),
};
const listInStream: Script = ({ id }, response) => {
  writeEvent(response, { jsonrpc: '2.0', id, result: { prompts: [{ name: 'plan' }, { name: 'secret' }] } });
  response.end();
  return written;
};

const startOlder = (list = prompts['prompts/list'] as Script): Promise<RawServer> =>
  startRawServer({
    initialize: (_request, response) => {
      response.setHeader('mcp-session-id', 'up-1');
      return { protocolVersion: '2025-11-25', capabilities, serverInfo: { name: 'raw', version: '1' } };
    },
    ...prompts,
    'prompts/list': list,
  });
const startNewer = (): Promise<RawServer> =>
  startModernRawServer('a', () => ({ ...complete, content: [] }), { capabilities, ...prompts });

type Say = (method: string, params?: Readonly<Record<string, unknown>>) => Promise<string>;

const post = async (url: string, headers: Readonly<Record<string, string>>, message: object): Promise<Response> =>
  await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 5, ...message }),
  });

/** A client of either generation. */
const clientOf = async (generation: '2025' | '2026', url: string): Promise<Say> => {
  const clientInfo = { name: 't', version: '1' };
  if (generation === '2026') {
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': clientInfo,
      'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
    };
    return async (method, params = {}) => {
      const name = params['name'];
      const headers = {
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': method,
        ...(typeof name === 'string' && { 'mcp-name': name }),
      };
      return await (await post(url, headers, { method, params: { ...params, _meta: meta } })).text();
    };
  }
  const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
  const opened = await post(url, {}, { method: 'initialize', params: hello });
  await opened.text();
  const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' };
  return async (method, params = {}) => await (await post(url, session, { method, params })).text();
};

const completing = (name: string) => ({ ref: { type: 'ref/prompt', name }, argument: { name: 'x', value: '' } });

describe('prompts that the rule of a client leaves out', () => {
  it.each([
    ['2025', '2025', startOlder],
    ['2025', '2025 that answers in streams', () => startOlder(listInStream)],
    ['2026', '2025', startOlder],
    ['2025', '2026', startNewer],
    ['2026', '2026', startNewer],
  ] as const)('are to a client of %s at a server of %s such as do not exist', async (generation, _server, start) => {
    const server = open.use(await start());
    folder.write('mcp.json', { mcpServers: { s: { url: server.url } } });
    folder.write('gantry.config.json', { serve: { clients: { '*': { tools: ['s__a', 's__plan-prompt'] } } } });
    const gateway = open.use(await folder.serve());
    const say = await clientOf(generation, `${gateway.url}/mcp/s`);

    const listed = await say('prompts/list');
    expect(listed).toContain('plan');
    expect(listed).not.toContain('secret');
    for (const [method, params] of [
      ['prompts/get', { name: 'secret' }],
      ['completion/complete', completing('secret')],
    ] as const) {
      const text = await say(method, params);
      expect(JSON.parse(text)).toMatchObject({ id: 5, error: { code: -32_602, message: 'Prompt secret not found' } });
      expect(server.count(method)).toBe(0);
    }
    expect(await say('prompts/get', { name: 'plan' })).toContain('filled plan');
    expect(await say('completion/complete', completing('plan'))).toContain('completed');
  });

  it('stay there, every byte as the server wrote it, for a client without a rule', async () => {
    const server = open.use(await startOlder());
    folder.write('mcp.json', { mcpServers: { s: { url: server.url, allowedTools: ['a'] } } });
    const gateway = open.use(await folder.serve());
    const say = await clientOf('2025', `${gateway.url}/mcp/s`);
    const result = prompts['prompts/list']?.({} as never, {} as never);
    expect(await say('prompts/list')).toBe(JSON.stringify({ jsonrpc: '2.0', id: 5, result }));
    expect(await say('prompts/get', { name: 'secret' })).toContain('filled secret');
  });
});

it('keeps the resources of a server that the tools of a rule cannot be of to itself', async () => {
  const reading = (name: string): Promise<RawServer> =>
    startRawServer({ 'resources/read': () => ({ contents: [{ uri: 'docs://d', text: `${name} document` }] }) });
  const [named, other] = [open.use(await reading('named')), open.use(await reading('other'))];
  folder.write('mcp.json', { mcpServers: { named: { url: named.url }, other: { url: other.url } } });
  folder.write('gantry.config.json', { serve: { clients: { '*': { tools: ['named__a', 'mcp_*'] } } } });
  const { url } = open.use(await folder.serve());
  const say = await clientOf('2025', `${url}/mcp/named`);
  expect(await say('resources/read', { uri: 'docs://d' })).toContain('named document');
  const refused = await post(`${url}/mcp/other`, {}, { method: 'resources/read', params: { uri: 'docs://d' } });
  expect(refused.status).toBe(404);
  const atAll = await clientOf('2025', `${url}/mcp`);
  const reads = { name: 'mcp_read_resource', arguments: { server_name: 'other', uri: 'docs://d' } };
  expect(await atAll('tools/call', reads)).toContain('There is no server');
  expect(other.count('resources/read')).toBe(0);
});
