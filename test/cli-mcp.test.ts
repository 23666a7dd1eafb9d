import { Client as ClientOf2025 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as TransportOf2025 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { GantryFolder } from './fixtures/gantry-process.ts';
import { gantryProgram, makeGantryFolder } from './fixtures/gantry-process.ts';
import type { ModernServer } from './fixtures/modern-server.ts';
import { startModernServer } from './fixtures/modern-server.ts';
import { startSlowServer } from './fixtures/slow-server.ts';

let folder: GantryFolder;
let server: ModernServer;
beforeEach(async () => {
  folder = makeGantryFolder();
  server = await startModernServer();
  folder.write('mcp.json', { mcpServers: { demo: { url: server.url } } });
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

interface Session extends AsyncDisposable {
  listTools(): Promise<string[]>;
  echo(text: string): Promise<unknown>;
  /** Calls a tool without arguments. */
  call(name: string, signal?: AbortSignal): Promise<unknown>;
  onToolsChanged(listener: () => void): void;
}

const program = (): { command: string; args: string[]; cwd: string; env: Record<string, string>; stderr: 'pipe' } => ({
  command: process.execPath,
  args: [gantryProgram, 'mcp', '--mode', 'eager'],
  cwd: folder.path,
  env: folder.env,
  stderr: 'pipe',
});

const clients: [string, () => Promise<Session>][] = [
  [
    'a client of 2025-11-25',
    async () => {
      const client = new ClientOf2025({ name: 'test', version: '1' });
      await client.connect(new TransportOf2025(program()));
      return {
        listTools: async () => (await client.listTools()).tools.map((tool) => tool.name),
        echo: async (text) => (await client.callTool({ name: 'demo__echo', arguments: { text } })).content,
        call: (name, signal) => client.callTool({ name }, undefined, { ...(signal && { signal }) }),
        onToolsChanged: (listener) =>
          client.setNotificationHandler(ToolListChangedNotificationSchema, async () => listener()),
        [Symbol.asyncDispose]: () => client.close(),
      };
    },
  ],
  [
    'a client of 2026-07-28',
    async () => {
      let onChanged = (): void => {};
      const client = new Client(
        { name: 'test', version: '1' },
        {
          versionNegotiation: { mode: 'auto' },
          listChanged: { tools: { autoRefresh: false, onChanged: () => onChanged() } },
        },
      );
      await client.connect(new StdioClientTransport(program()));
      expect(client.getNegotiatedProtocolVersion()).toBe('2026-07-28');
      return {
        listTools: async () => (await client.listTools()).tools.map((tool) => tool.name),
        echo: async (text) => (await client.callTool({ name: 'demo__echo', arguments: { text } })).content,
        call: (name, signal) => client.callTool({ name }, { ...(signal && { signal }) }),
        onToolsChanged: (listener) => {
          onChanged = listener;
        },
        [Symbol.asyncDispose]: () => client.close(),
      };
    },
  ],
];

/** Servers connect behind the start, so the tool may come with a change notice. */
const untilListed = async (session: Session, name: string): Promise<void> => {
  const changed = { next: Promise.withResolvers<void>() };
  session.onToolsChanged(() => changed.next.resolve());
  while (!(await session.listTools()).includes(name)) {
    await changed.next.promise;
    changed.next = Promise.withResolvers();
  }
};

describe.each(clients)('gantry mcp with %s', (_name, connect) => {
  it('serves the tools of servers by itself', async () => {
    await using session = await connect();
    await untilListed(session, 'demo__echo');
    expect(await session.echo('hi')).toEqual([{ type: 'text', text: 'hi' }]);
  });

  it('serves them through the gateway that owns the data folder', async () => {
    await using gateway = await folder.serve();
    await folder.run(['servers', 'refresh']);
    await using session = await connect();
    expect(await session.listTools()).toContain('demo__echo');
    expect(await session.echo('hi')).toEqual([{ type: 'text', text: 'hi' }]);
    server.addTool('late');
    await untilListed(session, 'demo__late');
    await gateway.stop('SIGKILL');
    await expect(session.echo('again')).rejects.toThrow('The gateway at');
  });
});

describe.each(clients)('a call of %s through gantry mcp and a gateway', (_name, connect) => {
  it('is cancelled at its server when the client gives it up', async () => {
    await using slow = await startSlowServer();
    folder.write('mcp.json', { mcpServers: { slow: { url: slow.url } } });
    await using _gateway = await folder.serve();
    await folder.run(['servers', 'refresh']);
    await using session = await connect();
    const giveUp = new AbortController();
    const calling = session.call('slow__wait', giveUp.signal);
    await Promise.race([slow.called, calling]);
    giveUp.abort();
    await expect(calling).rejects.toThrow();
    await slow.cancelled;
  });

  it('is answered with an error when the gateway dies under it', async () => {
    await using slow = await startSlowServer();
    folder.write('mcp.json', { mcpServers: { slow: { url: slow.url } } });
    await using gateway = await folder.serve();
    await folder.run(['servers', 'refresh']);
    await using session = await connect();
    const calling = session.call('slow__wait');
    await Promise.race([slow.called, calling]);
    await gateway.stop('SIGKILL');
    await expect(calling).rejects.toThrow('did not answer "tools/call"');
  });
});

it('prints nothing but protocol and ends with its client', async () => {
  const request = { jsonrpc: '2.0', id: 1, method: 'ping' };
  const { code, stdout } = await folder.run(['mcp', '--log-level', 'debug'], { stdin: `${JSON.stringify(request)}\n` });
  expect(code).toBe(0);
  for (const line of stdout.split('\n').filter((text) => text !== ''))
    expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' });
});

describe('one server over standard input and output', () => {
  const passed = (...args: string[]) => ({ ...program(), args: [gantryProgram, 'mcp', ...args] });

  it.each(['2025', '2026'])('is passed through as it is to a client of %s', async (generation) => {
    await using _gateway = await folder.serve();
    const client =
      generation === '2025' ? new ClientOf2025({ name: 't', version: '1' }) : new Client({ name: 't', version: '1' });
    await (generation === '2025'
      ? (client as ClientOf2025).connect(new TransportOf2025(passed('--server', 'demo')))
      : (client as Client).connect(new StdioClientTransport(passed('--server', 'demo'))));
    expect(client.getServerVersion()).toMatchObject({ name: 'modern', title: 'Modern server' });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('echo');
    expect(await client.callTool({ name: 'echo', arguments: { text: 'hé' } })).toMatchObject({
      content: [{ type: 'text', text: 'hé' }],
    });
    await client.close();
  });

  it('needs a gateway that runs, and no mode', async () => {
    const without = await folder.run(['mcp', '--server', 'demo']);
    expect([without.code, without.stderr]).toEqual([2, expect.stringContaining('gantry serve') as unknown]);
    const both = await folder.run(['mcp', '--server', 'demo', '--mode', 'off']);
    expect([both.code, both.stderr]).toEqual([2, expect.stringContaining('--mode or --server') as unknown]);
  });
});
