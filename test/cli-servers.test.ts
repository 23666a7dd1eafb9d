import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { GantryFolder } from './fixtures/gantry-process.ts';
import { makeGantryFolder } from './fixtures/gantry-process.ts';
import { startModernServer } from './fixtures/modern-server.ts';
import { startOauthServer } from './fixtures/oauth-server.ts';
import { startProtectedServer } from './fixtures/protected-server.ts';

const stdioServer = fileURLToPath(new URL('./fixtures/stdio-server.ts', import.meta.url));

let folder: GantryFolder;
beforeEach(() => {
  folder = makeGantryFolder();
});
afterEach(() => folder[Symbol.dispose]());

const fileText = (): Promise<string> => readFile(join(folder.path, 'mcp.json'), 'utf8');

/** Signs in with the command and a browser that agrees at once. */
const login = async (oauth: { agree(url: string): Promise<URL> }): Promise<[number | null, string]> => {
  const child = folder.start(['servers', 'login', 'wiki']);
  let [out, err] = ['', ''];
  let isSent = false;
  child.stdout.setEncoding('utf8').on('data', (piece: string) => (out += piece));
  child.stderr.setEncoding('utf8').on('data', (piece: string) => {
    err += piece;
    const [url] = /http\S+\/authorize\S+/.exec(err) ?? [];
    if (url === undefined || isSent || !err.includes('Waiting')) return;
    isSent = true;
    void oauth.agree(url).then((back) => fetch(back));
  });
  const code = await new Promise<number | null>((resolve) => child.on('exit', resolve));
  return [code, out];
};

describe('gantry servers', () => {
  it('adds, switches and removes servers of a running gateway, which has them at once', async () => {
    await using server = await startModernServer();
    folder.write('mcp.json', '{\n  // ours\n  "mcpServers": {}\n}\n');
    await using gateway = await folder.serve();
    expect(await folder.json(['servers', 'add', 'demo', '--url', server.url, '--header', 'x-a=${X}'])).toMatchObject([
      0,
      { server: { name: 'demo', state: 'connected', origin: 'operator' } },
    ]);
    expect(await folder.json(['tools', 'call', 'demo__echo', '--args', '{"text":"hi"}'])).toMatchObject([
      0,
      { content: 'hi' },
    ]);
    expect(await folder.json(['servers', 'add', 'demo', '--url', `${server.url}?2`])).toMatchObject([
      2,
      { error: { code: 'invalid_arguments', message: expect.stringContaining('servers remove demo') as string } },
    ]);
    expect(await folder.json(['servers', 'disable', 'demo'])).toMatchObject([0, { server: { state: 'disabled' } }]);
    expect(await folder.json(['tools', 'list'])).not.toMatchObject([0, { tools: [{ name: 'demo__echo' }] }]);
    expect(await folder.json(['servers', 'enable', 'demo'])).toMatchObject([0, { server: { state: 'connected' } }]);
    expect(await fileText()).toContain('// ours');
    expect(await folder.json(['servers', 'remove', 'demo'])).toEqual([0, { removed: 'demo' }]);
    expect(JSON.parse((await fileText()).replace('// ours', ''))).toEqual({ mcpServers: {} });
    expect(await folder.json(['servers', 'remove', 'demo'])).toMatchObject([1, { error: { code: 'server_unknown' } }]);
    expect(await gateway.stop()).toBe(0);
  });

  it('adds a program, which a later command knows without starting it', async () => {
    folder.write('gantry.config.json', { mcp: { stdio: 'launch' } });
    const added = await folder.run(['--json', 'servers', 'add', 'tool', '--', process.execPath, stdioServer, 'plain']);
    expect(added.code).toBe(0);
    expect(JSON.parse(added.stdout)).toMatchObject({ server: { state: 'connected', transport: 'stdio', tools: 5 } });
    expect(await folder.json(['servers', 'list'])).toMatchObject([
      0,
      { servers: [{ name: 'tool', state: 'idle', tools: 5 }] },
    ]);
    expect((await folder.json(['tools', 'call', 'tool__pids']))[0]).toBe(0);
  });

  it('signs in without a gateway, for every command after that', async () => {
    await using oauth = await startOauthServer();
    await using server = await startProtectedServer(oauth);
    folder.write('mcp.json', { mcpServers: { wiki: { url: server.url } } });
    expect(await folder.json(['tools', 'call', 'wiki__echo'])).toMatchObject([1, { isError: true }]);
    expect(await folder.json(['servers', 'list'])).toMatchObject([
      0,
      {
        servers: [{ state: 'needs_login', lastError: expect.stringContaining('gantry servers login wiki') as string }],
      },
    ]);
    expect(await login(oauth)).toEqual([0, 'Server "wiki" is signed in: connected, 1 tool.\n']);
    expect(await folder.json(['tools', 'call', 'wiki__echo'])).toMatchObject([0, { status: 'done' }]);
  });
});
