import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport as ModernStdio } from '@modelcontextprotocol/client/stdio';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GantryFolder, ServingGantry } from './fixtures/gantry-process.ts';
import { gantryProgram, makeGantryFolder } from './fixtures/gantry-process.ts';

// The public test server of the protocol over each of its transports, behind one gateway, reached by the clients people use.
const run = promisify(execFile);
const bin = (name: string): string => fileURLToPath(new URL(`../node_modules/.bin/${name}`, import.meta.url));
const program = fileURLToPath(
  new URL('../node_modules/@modelcontextprotocol/server-everything/dist/index.js', import.meta.url),
);
const servers = ['http', 'sse', 'stdio'] as const;

let folder: GantryFolder;
let gateway: ServingGantry;
const children: { kill(): boolean }[] = [];

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject).listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });

const startEverything = async (transport: 'streamableHttp' | 'sse'): Promise<number> => {
  const port = await freePort();
  const child = spawn(process.execPath, [program, transport], {
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
  while (!/listening|running|port/i.test(said))
    await Promise.race([once(child.stdout, 'data'), once(child.stderr, 'data')]);
  return port;
};

beforeAll(async () => {
  folder = makeGantryFolder();
  const [http, sse] = await Promise.all([startEverything('streamableHttp'), startEverything('sse')]);
  folder.write('mcp.json', {
    mcpServers: {
      http: { url: `http://127.0.0.1:${http}/mcp` },
      sse: { url: `http://127.0.0.1:${sse}/sse` },
      stdio: { command: process.execPath, args: [program, 'stdio'] },
    },
  });
  folder.write('gantry.config.json', { mcp: { stdio: 'launch' } });
  gateway = await folder.serve();
  await folder.run(['servers', 'refresh', '--url', gateway.url]);
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  for (const child of children) child.kill();
  folder[Symbol.dispose]();
});

interface AnyClient {
  listTools(): Promise<{ tools: { name: string }[] }>;
  callTool(params: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
  close(): Promise<void>;
}
const info = { name: 'test', version: '1' };
const mcpUrl = (): URL => new URL(`${gateway.url}/mcp?mode=eager`);
const connectOld = async (): Promise<AnyClient> => {
  const client = new OldClient(info);
  await client.connect(new OldTransport(mcpUrl()));
  return client;
};
const connectModern = async (mode: 'legacy' | { pin: string }): Promise<AnyClient> => {
  const client = new ModernClient(info, { versionNegotiation: { mode } });
  await client.connect(new ModernTransport(mcpUrl()));
  return client;
};
const connectStdio = async (): Promise<AnyClient> => {
  const client = new ModernClient(info, { versionNegotiation: { mode: 'auto' } });
  const args = [gantryProgram, 'mcp', '--mode', 'eager'];
  await client.connect(new ModernStdio({ command: process.execPath, args, cwd: folder.path, env: folder.env }));
  return client;
};

describe.each<[string, () => Promise<AnyClient>]>([
  ['the v1 SDK client (2025-11-25)', connectOld],
  ['the v2 SDK client as 2025', () => connectModern('legacy')],
  ['the v2 SDK client as 2026-07-28', () => connectModern({ pin: '2026-07-28' })],
  ['the v2 SDK client through "gantry mcp"', connectStdio],
])('%s', (_what, connect) => {
  it('lists and calls the tools of a server over each transport under its typed names', async () => {
    const client = await connect();
    try {
      const names = (await client.listTools()).tools.map((tool) => tool.name);
      for (const server of servers) {
        expect(names).toEqual(expect.arrayContaining([`${server}__echo`, `${server}__get-sum`]));
        const result = await client.callTool({ name: `${server}__echo`, arguments: { message: `hi ${server}` } });
        expect(result).toMatchObject({ content: [{ type: 'text', text: `Echo: hi ${server}` }] });
      }
    } finally {
      await client.close();
    }
  });
});

describe('the inspector’s command line', () => {
  const inspect = async (...args: string[]): Promise<unknown> => {
    const { stdout } = await run(bin('mcp-inspector'), ['--cli', mcpUrl().href, '--transport', 'http', ...args]);
    return JSON.parse(stdout);
  };

  it('lists the tools with the servers’ own schemas', async () => {
    const { tools } = (await inspect('--method', 'tools/list')) as { tools: { name: string }[] };
    expect(tools.find((tool) => tool.name === 'http__get-sum')).toMatchObject({
      inputSchema: { properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
    });
  });

  it('calls a tool', async () => {
    const args = ['--tool-name', 'sse__get-sum', '--tool-arg', 'a=2', 'b=3'];
    expect(await inspect('--method', 'tools/call', ...args)).toMatchObject({
      content: [{ text: 'The sum of 2 and 3 is 5.' }],
    });
  });
});

it('gives structured content, images and links of the server on to the client', async () => {
  const client = await connectOld();
  const call = (tool: string, args: Record<string, unknown> = {}): Promise<unknown> =>
    client.callTool({ name: `http__${tool}`, arguments: args });
  expect(await call('get-structured-content', { location: 'New York' })).toMatchObject({
    structuredContent: { temperature: expect.any(Number) },
  });
  expect(await call('get-tiny-image')).toMatchObject({
    content: expect.arrayContaining([expect.objectContaining({ type: 'image', mimeType: 'image/png' })]),
  });
  expect(await call('get-resource-links', { count: 2 })).toMatchObject({
    content: expect.arrayContaining([expect.objectContaining({ type: 'resource_link' })]),
  });
  await client.close();
});

it('carries progress from the server to the client', async () => {
  const client = new ModernClient(info, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  await client.connect(new ModernTransport(mcpUrl()));
  const steps: number[] = [];
  const call = { name: 'http__trigger-long-running-operation', arguments: { duration: 1, steps: 4 } };
  await client.callTool(call, { onprogress: ({ progress }) => steps.push(progress) });
  await client.close();
  expect(steps).toEqual([1, 2, 3, 4]);
});

it('leaves no program of a server behind when the gateway stops', async () => {
  const own = makeGantryFolder();
  own.write('mcp.json', {
    mcpServers: { stdio: { command: process.execPath, args: [program, 'stdio', `--marker=${own.path}`] } },
  });
  own.write('gantry.config.json', { mcp: { stdio: 'launch' } });
  await using serving = await own.serve();
  await own.run(['tools', 'call', 'stdio__echo', '--args', '{"message":"x"}', '--url', serving.url]);
  const marked = async (): Promise<number> => {
    const { stdout } = await run('ps', ['-eo', 'args']);
    return stdout.split('\n').filter((line) => line.includes(join(own.path)) && line.includes('--marker')).length;
  };
  expect(await marked()).toBe(1);
  expect(await serving.stop()).toBe(0);
  expect(await marked()).toBe(0);
  own[Symbol.dispose]();
});
