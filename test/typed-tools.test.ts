import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { GantryFolder } from './fixtures/gantry-process.ts';
import { makeGantryFolder } from './fixtures/gantry-process.ts';
import type { RawServer } from './fixtures/raw-server.ts';
import { startRawServer, toolNamed } from './fixtures/raw-server.ts';

const token = '0123456789abcdef';
const invoice = toolNamed('create_invoice', {
  description: 'Creates an invoice for a customer.',
  inputSchema: { type: 'object', properties: { customer: { type: 'string' } }, required: ['customer'] },
});

let folder: GantryFolder;
let billing: RawServer;
beforeEach(async () => {
  folder = makeGantryFolder();
  const others = Array.from({ length: 60 }, (_, at) => toolNamed(`other_${at}`));
  billing = await startRawServer({
    'tools/list': () => ({ tools: [...others, invoice] }),
    'tools/call': ({ params }) => ({ content: [{ type: 'text', text: `${String(params?.['name'])} ran` }] }),
  });
  folder.write('mcp.json', { mcpServers: { billing: { url: billing.url } } });
});
afterEach(async () => {
  await billing[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

interface Desk extends AsyncDisposable {
  /** Typed tools in its list. */
  typed(): Promise<string[]>;
  /** The text of a result. */
  call(name: string, args: Record<string, unknown>): Promise<string>;
  /** Resolves at the first notice that its list changed. */
  readonly told: Promise<void>;
  wasTold(): boolean;
}

const connect = async (url: string, mode: 'legacy' | 'auto', headers: Record<string, string> = {}): Promise<Desk> => {
  const told = Promise.withResolvers<void>();
  let wasTold = false;
  const onChanged = (): void => {
    wasTold = true;
    told.resolve();
  };
  const client = new Client(
    { name: 'desk', version: '1' },
    { versionNegotiation: { mode }, listChanged: { tools: { autoRefresh: false, onChanged } } },
  );
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit: { headers } }));
  return {
    typed: async () => (await client.listTools()).tools.map(({ name }) => name).filter((name) => name.includes('__')),
    call: async (name, args) => {
      const { content } = await client.callTool({ name, arguments: args });
      return content.map((part) => (part.type === 'text' ? part.text : part.type)).join('\n');
    },
    told: told.promise,
    wasTold: () => wasTold,
    [Symbol.asyncDispose]: () => client.close(),
  };
};

it('lets a client find, be told of and call what it needs, in its own session only', async () => {
  await using gateway = await folder.serve();
  await folder.json(['servers', 'refresh', 'billing']);
  await using desk = await connect(gateway.url, 'legacy');
  await using other = await connect(gateway.url, 'legacy');
  expect(await desk.typed()).toEqual([]);
  const found = await desk.call('mcp_find_tools', { query: 'create an invoice for a customer', limit: 1 });
  expect(JSON.parse(found)).toMatchObject({ tools: [{ name: 'billing__create_invoice', activated: true }] });
  await desk.told;
  expect(await desk.typed()).toEqual(['billing__create_invoice']);
  expect(await desk.call('billing__create_invoice', { customer: 'c' })).toBe('create_invoice ran');
  expect(await other.typed()).toEqual([]);
  expect(other.wasTold()).toBe(false);
  // Not in its list, and callable all the same.
  expect(await other.call('billing__other_7', {})).toBe('other_7 ran');
});

it('finds what a client with a token made its own again after a restart, without any session', async () => {
  folder.write('gantry.config.json', { serve: { token, clientModes: { token: 'lazy' } } });
  const headers = { authorization: `Bearer ${token}` };
  {
    await using gateway = await folder.serve();
    await folder.json(['servers', 'refresh', 'billing']);
    await using desk = await connect(gateway.url, 'auto', headers);
    await desk.call('mcp_find_tools', { query: 'billing__create_invoice', limit: 1 });
    await desk.told;
    expect(await desk.typed()).toEqual(['billing__create_invoice']);
    await gateway.stop('SIGINT');
  }
  await using gateway = await folder.serve();
  await folder.json(['servers', 'refresh', 'billing']);
  await using desk = await connect(gateway.url, 'auto', headers);
  expect(await desk.typed()).toEqual(['billing__create_invoice']);
});

it('finds tools from the command line', async () => {
  const [code, found] = await folder.json(['tools', 'find', 'create an invoice', '--limit', '2']);
  expect(code).toBe(0);
  expect(found).toMatchObject({
    query: 'create an invoice',
    tools: [
      {
        name: 'billing__create_invoice',
        server: 'billing',
        tool: 'create_invoice',
        score: expect.any(Number),
        description: '[billing] Creates an invoice for a customer.',
        inputSchema: { required: ['customer'] },
      },
    ],
  });
  const { code: usage, stderr } = await folder.run(['tools', 'find', 'x', '--limit', '0']);
  expect(usage).toBe(2);
  expect(stderr).toContain('--limit');
});

it('refuses to start with a mode that does not exist', async () => {
  folder.write('gantry.config.json', { mcp: { wrapperMode: 'sometimes' } });
  const { code, stderr } = await folder.run(['serve', '--port', '0']);
  expect(code).toBe(2);
  expect(stderr).toContain('mcp.wrapperMode');
});
