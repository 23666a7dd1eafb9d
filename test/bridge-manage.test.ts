import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { manageMessageTypes as types } from '../packages/gantry/src/mcp/wire/manage-messages.ts';
import { fakeClock } from '../packages/gantry/src/testing/fake-clock.ts';
import type { BridgeHarness } from './fixtures/bridge-harness.ts';
import { startBridge } from './fixtures/bridge-harness.ts';
import { startModernServer } from './fixtures/modern-server.ts';
import { endWith, RpcError, startRawServer, written } from './fixtures/raw-server.ts';

const development = {
  policy: { production: false, allowPrivateNetwork: true },
  isOwnListener: (): boolean => false,
};
const id = 'aaaaaaaaaaaa';

const errorOf = async (t: BridgeHarness, type: string, body: unknown): Promise<string> => {
  const reply = await t.ask(type, body);
  expect(reply.messageType).toBe(types.error);
  return (reply.body as { error: string }).error;
};

const fileOf = async (t: BridgeHarness): Promise<Record<string, Record<string, unknown>>> =>
  (JSON.parse(await readFile(t.configPath, 'utf8')) as { mcpServers: Record<string, Record<string, unknown>> })
    .mcpServers;

describe('a server that a model registers', () => {
  it('is written as its own, connected, and leaves the others alone', async () => {
    await using other = await startRawServer();
    await using server = await startRawServer();
    await using t = await startBridge({ other: { id, url: other.url } }, { addresses: development });
    await t.bridge.ready();
    const reply = await t.ask(types.registerServer, { name: 'wiki', type: 'sse', url: server.url });
    expect(reply).toMatchObject({
      messageType: types.serverRegistered,
      body: {
        serverName: 'wiki',
        connected: true,
        toolCount: 2,
        message: 'Server "wiki" is registered. It is connected and offers 2 tools.',
      },
    });
    const { other: kept, wiki } = await fileOf(t);
    expect(kept).toEqual({ id, url: other.url });
    expect(wiki).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{12}$/) as string,
      origin: 'agent',
      type: 'sse',
      url: server.url,
    });
    expect(other.count('initialize')).toBe(1);
    expect(await t.text('wiki', 'echo', { a: 1 })).toBe('{"a":1}');
    const gone = await t.ask(types.unregisterServer, { serverName: 'WIKI' });
    expect(gone.messageType).toBe(types.serverUnregistered);
    expect(await fileOf(t)).toEqual({ other: { id, url: other.url } });
    expect(t.indexed.at(-1)?.removedServers).toEqual(['wiki']);
  });

  it('stays registered when it cannot be connected, and the answer says so', async () => {
    await using server = await startRawServer({ 'server/discover': (_request, response) => endWith(response, 500) });
    await using t = await startBridge({}, { addresses: development });
    const { body } = await t.ask(types.registerServer, { name: 'wiki', type: 'sse', url: server.url });
    expect(body).toMatchObject({
      connected: false,
      message: expect.stringMatching(/Connection failed.*500/) as string,
    });
    expect(await fileOf(t)).toHaveProperty('wiki.origin', 'agent');
  });

  it.each([
    ['http://127.0.0.1:9/mcp', '127.0.0.1'],
    ['http://169.254.169.254/latest', 'metadata'],
    ['file:///etc/passwd', 'http and https'],
    ['http://user:secret@example.com/mcp', 'user name or password'],
    ['nonsense', 'not an absolute URL'],
  ])('is refused at %s', async (url, mentions) => {
    await using t = await startBridge({});
    const before = await readFile(t.configPath, 'utf8');
    const error = await errorOf(t, types.registerServer, { name: 'wiki', type: 'sse', url });
    expect(error).toContain(mentions);
    expect(error).not.toContain('secret');
    expect(await readFile(t.configPath, 'utf8')).toBe(before);
  });

  it('is refused at a listener of this process, whatever else is allowed', async () => {
    await using server = await startRawServer();
    const addresses = { ...development, isOwnListener: () => true };
    await using t = await startBridge({}, { addresses });
    const error = await errorOf(t, types.registerServer, { name: 'wiki', type: 'sse', url: server.url });
    expect(error).toContain('listener of Gantry itself');
  });

  it('that was written by hand as its own is not connected to an address that policy keeps closed either', async () => {
    await using server = await startRawServer();
    await using t = await startBridge({
      wiki: { id, origin: 'agent', url: server.url },
      mine: { url: `${server.url}?m` },
    });
    await t.bridge.ready();
    expect(t.bridge.server('mine')?.state).toBe('connected');
    expect(t.bridge.server('wiki')?.lastError).toContain('127.0.0.1');
    expect(t.bridge.server('wiki')?.state).toBe('unreachable');
  });
});

describe('what a model may not change', () => {
  const entries = (url: string): Record<string, Record<string, unknown>> => ({
    Mine: { id, url: `${url}?mine` },
    own: { id: 'bbbbbbbbbbbb', origin: 'agent', type: 'sse', url: `${url}?own` },
    guarded: { id: 'cccccccccccc', origin: 'agent', type: 'sse', url: `${url}?guarded`, deniedTools: ['a'] },
    sse: { id: 'dddddddddddd', origin: 'agent', type: 'sse', url: `${url}?sse`, transportMode: 'streamable-http' },
    twin: { id: 'eeeeeeeeeeee', type: 'sse', url: `${url}?twin` },
  });

  it.each([
    [types.registerServer, { name: 'mine', type: 'sse', url: '$?new' }, 'managed by the operator'],
    [types.registerServer, { name: 'own', type: 'sse', url: '$?new' }, 'unregister it first'],
    [types.registerServer, { name: 'new', type: 'sse', url: '$?twin' }, 'already as "twin"'],
    [types.registerServer, { name: 'a__b', type: 'sse', url: '$?new' }, 'cannot be the name'],
    [types.registerServer, { name: '', type: 'sse', url: '$?new' }, 'Give "name"'],
    [types.registerServer, { name: 'new', type: 'stdio', url: '$?new' }, '"type" must be "sse"'],
    [types.unregisterServer, { serverName: 'mine' }, 'managed by the operator'],
    [types.unregisterServer, { serverName: 'guarded' }, '"deniedTools"'],
    [types.unregisterServer, { serverName: 'sse' }, '"transportMode"'],
    [types.unregisterServer, { serverName: 'nope' }, 'There is no server "nope".'],
  ])('%s %j: the file stays as it is', async (type, body, mentions) => {
    await using server = await startRawServer();
    await using t = await startBridge(entries(server.url), { addresses: development });
    await t.bridge.ready();
    const before = await readFile(t.configPath);
    const asked = 'url' in body ? { ...body, url: body.url.replace('$', server.url) } : body;
    expect(await errorOf(t, type, asked)).toContain(mentions);
    expect((await readFile(t.configPath)).equals(before)).toBe(true);
  });

  it('holds for policy that the operator wrote a moment ago', async () => {
    await using server = await startRawServer();
    await using t = await startBridge(entries(server.url), { addresses: development });
    await t.bridge.ready();
    await t.write({ ...entries(server.url), own: { ...entries(server.url)['own'], headers: { 'x-key': 'k' } } });
    expect(await errorOf(t, types.unregisterServer, { serverName: 'own' })).toContain('"headers"');
  });

  it('holds over a broken file, which is not touched', async () => {
    await using t = await startBridge({});
    const { writeFile } = await import('node:fs/promises');
    await writeFile(t.configPath, '{ broken');
    expect(await errorOf(t, types.unregisterServer, { serverName: 'own' })).toContain('not valid JSON');
    expect(await readFile(t.configPath, 'utf8')).toBe('{ broken');
  });
});

describe('prompts', () => {
  it('are filled in; values that are no texts go as their JSON', async () => {
    await using server = await startModernServer();
    await using t = await startBridge({ s: { url: server.url } });
    await t.bridge.ready();
    const { body } = await t.ask(types.getPrompt, { serverName: 'S', promptName: 'Greet', arguments: { who: 7 } });
    expect(body).toEqual({
      serverName: 's',
      promptName: 'greet',
      messages: [{ role: 'user', content: 'Hello 7', contentType: 'text' }],
    });
  });

  it('that are unknown or lack an argument are answered without the server', async () => {
    await using server = await startModernServer();
    await using t = await startBridge({ s: { url: server.url } });
    await t.bridge.ready();
    expect(await errorOf(t, types.getPrompt, { serverName: 's', promptName: 'nope' })).toBe(
      'Server "s" has no prompt "nope". Its prompts: greet.',
    );
    expect(await errorOf(t, types.getPrompt, { serverName: 's', promptName: 'greet', arguments: {} })).toBe(
      'Prompt "greet" of server "s" needs "who". Its arguments: who (required).',
    );
  });

  it('may hold content that is no text', async () => {
    const image = { type: 'image', data: 'AA==', mimeType: 'image/png' };
    await using server = await startRawServer({
      initialize: () => ({
        protocolVersion: '2025-11-25',
        capabilities: { prompts: {} },
        serverInfo: { name: 'raw', version: '1' },
      }),
      'prompts/list': () => ({ prompts: [{ name: 'p' }] }),
      'prompts/get': () => ({ messages: [{ role: 'assistant', content: image }, 'odd'] }),
    });
    await using t = await startBridge({ s: { url: server.url } });
    await t.bridge.ready();
    const { body } = await t.ask(types.getPrompt, { serverName: 's', promptName: 'p' });
    expect(body).toMatchObject({
      messages: [{ role: 'assistant', content: JSON.stringify(image), contentType: 'image' }],
    });
  });
});

describe('resources', () => {
  const long = 'x'.repeat(40_000);
  const contents: Record<string, object> = {
    'docs://short': { uri: 'docs://short', mimeType: 'text/plain', text: 'short' },
    'docs://guides/long.md': { uri: 'docs://guides/long.md', mimeType: 'text/markdown', text: long },
    'docs://logo': { uri: 'docs://logo', mimeType: 'image/png', blob: Buffer.from('png').toString('base64') },
  };
  const start = () =>
    startRawServer({
      initialize: () => ({
        protocolVersion: '2025-11-25',
        capabilities: { resources: {} },
        serverInfo: { name: 'raw', version: '1' },
      }),
      'resources/list': () => ({
        resources: [
          { uri: 'docs://short', name: 'short', mimeType: 'text/plain', size: 5, icons: [] },
          { uri: 'docs://{odd}', name: 'odd' },
          { name: 'no address' },
        ],
      }),
      'resources/templates/list': () => ({
        resourceTemplates: [{ uriTemplate: 'docs://guides/{name}', title: 'Guides' }],
      }),
      'resources/read': ({ params }) => {
        const found = contents[String(params?.['uri'])];
        if (!found) throw new RpcError(-32_002, 'No such thing');
        return { contents: [found] };
      },
    });

  it('are listed with their templates, and what is not said is left out', async () => {
    await using server = await start();
    await using t = await startBridge({ s: { url: server.url } });
    await t.bridge.ready();
    expect((await t.ask(types.listResources, { serverName: 's' })).body).toEqual({
      server: 's',
      resources: [
        { uri: 'docs://short', name: 'short', mimeType: 'text/plain', size: 5 },
        { uri: 'docs://{odd}', name: 'odd' },
      ],
      templates: [{ uriTemplate: 'docs://guides/{name}', title: 'Guides' }],
    });
    expect((await t.ask(types.getDetails, { serverName: 's' })).body).toMatchObject({
      resourceCount: 3,
      resourceTemplateCount: 1,
    });
  });

  it('are given whole when they are short, and as files when they are long or bytes', async () => {
    await using server = await start();
    await using t = await startBridge({ s: { url: server.url } });
    await t.bridge.ready();
    const read = async (uri: string) =>
      (await t.ask(types.readResource, { serverName: 's', uri })).body as { contents: { path: string }[] };
    expect(await read('docs://short')).toEqual({
      server: 's',
      uri: 'docs://short',
      contents: [{ uri: 'docs://short', mimeType: 'text/plain', text: 'short' }],
    });
    const file = await read('docs://guides/long.md');
    expect(file.contents[0]).toMatchObject({ size: 40_000, path: expect.stringMatching(/long\.md$/) as string });
    expect(await readFile(file.contents[0]?.path ?? '', 'utf8')).toBe(long);
    const image = await read('docs://logo');
    expect(image.contents[0]).toMatchObject({ size: 3, path: expect.stringMatching(/logo\.png$/) as string });
    expect(JSON.stringify([file, image])).not.toMatch(/"(text|blob)"/);
  });

  it.each([
    ['docs://other', /No such thing.*docs:\/\/short, docs:\/\/\{odd\}, docs:\/\/guides\/\{name\}; mcp_list_resources/],
    ['docs://odd', /It does not list that address/],
    ['docs://guides/missing', /No such thing$/],
  ])('say why %s cannot be read', async (uri, says) => {
    await using server = await start();
    await using t = await startBridge({ s: { url: server.url } });
    await t.bridge.ready();
    expect(await errorOf(t, types.readResource, { serverName: 's', uri })).toMatch(says);
  });

  it('that the server never gives end in an error that names what was waited for', async () => {
    await using server = await startRawServer({ 'resources/read': () => written });
    const clock = fakeClock();
    await using t = await startBridge({ s: { url: server.url } }, { clock });
    await t.bridge.ready();
    const error = errorOf(t, types.readResource, { serverName: 's', uri: 'docs://slow' });
    await server.until('resources/read');
    await clock.advance(25_000);
    expect(await error).toBe('Server "s": no answer within 25 s while waiting for resource "docs://slow".');
  });

  it('of a server without any are none, and reading one points to its tools', async () => {
    await using server = await startRawServer();
    await using t = await startBridge({ s: { url: server.url } });
    await t.bridge.ready();
    expect((await t.ask(types.listResources, { serverName: 's' })).body).toEqual({
      server: 's',
      resources: [],
      templates: [],
    });
    expect(await errorOf(t, types.readResource, { serverName: 's', uri: 'docs://x' })).toMatch(/use its tools/);
  });
});

describe('the operator', () => {
  it('sees entries of one server that say different things, and by removing one connects the other', async () => {
    await using server = await startRawServer();
    const guarded = { id: 'bbbbbbbbbbbb', url: server.url, argGuards: [{ handler: 'path-perfix' }] };
    const slow = { id: 'cccccccccccc', url: server.url, toolTimeoutMs: 5_000 };
    await using t = await startBridge({ a: { id, url: server.url }, b: guarded, c: slow });
    await t.bridge.ready();
    const states = () => t.bridge.servers().map(({ name, state }) => `${name} ${state}`);
    expect(states()).toEqual(['a connected', 'b refused', 'c refused']);
    expect(t.bridge.server('b')?.lastError).toMatch(
      /^It is the same server as "a", .* with other "argGuards".* "path-perfix"/,
    );
    expect(t.log).toContainEqual(
      expect.objectContaining({ level: 'error', message: expect.stringContaining('Server "b" is refused.') as string }),
    );
    expect(await fileOf(t)).toEqual({ a: { id, url: server.url }, b: guarded, c: slow });
    expect((await t.bridge.setEnabled('c', false)).state).toBe('disabled');
    expect((await t.bridge.setEnabled('c', true)).state).toBe('refused');
    await t.bridge.setEnabled('a', false);
    await t.bridge.ready();
    // Its own mistake is told now, and the one that is right waits for it.
    expect(states()).toEqual(['a disabled', 'b refused', 'c refused']);
    expect(t.bridge.server('b')?.lastError).toContain('path-perfix');
    await t.bridge.remove('b');
    await t.untilState((bridge) => bridge.server('c')?.state === 'connected');
    expect(Object.keys(await fileOf(t))).toEqual(['a', 'c']);
  });

  it('adds, switches off and on, and removes a server without disturbing others', async () => {
    await using server = await startRawServer();
    await using t = await startBridge({ keep: { id, url: `${server.url}?keep` } });
    await t.bridge.ready();
    expect(await t.bridge.add('wiki', { url: server.url, headers: { 'x-a': '1' } })).toMatchObject({
      state: 'connected',
      origin: 'operator',
    });
    expect(server.seen.at(-1)?.headers['x-a']).toBe('1');
    await expect(t.bridge.add('WIKI', { url: `${server.url}?b` })).rejects.toMatchObject({ code: 'invalid_arguments' });
    await expect(t.bridge.add('b', { url: 'nonsense' })).rejects.toThrow('url: must be an http or https URL');
    await expect(t.bridge.add('b', { url: server.url, headers: { 'x-a': '1' } })).rejects.toThrow(
      '"wiki" is this server',
    );
    expect((await t.bridge.setEnabled('wiki', false)).state).toBe('disabled');
    expect(t.indexed.at(-1)?.removedServers).toEqual(['wiki']);
    expect((await t.bridge.setEnabled('wiki', true)).state).toBe('connected');
    expect((await fileOf(t))['wiki']).toMatchObject({ headers: { 'x-a': '1' } });
    expect((await fileOf(t))['wiki']).not.toHaveProperty('disabled');
    await t.bridge.remove('Wiki');
    await expect(t.bridge.remove('wiki')).rejects.toMatchObject({ code: 'server_unknown' });
    expect(await fileOf(t)).toEqual({ keep: { id, url: `${server.url}?keep` } });
    expect(server.seen.filter(({ method, path }) => method === 'initialize' && path === '/mcp?keep')).toHaveLength(1);
  });
});
