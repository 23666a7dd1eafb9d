import { join } from 'node:path';
import { Client as V2Client, StreamableHTTPClientTransport as V2Http } from '@modelcontextprotocol/client';
import { StdioClientTransport as V2Stdio } from '@modelcontextprotocol/client/stdio';
import { Client as V1Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as V1Stdio } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as V1Http } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ServedFace } from './fixtures/serve-face.ts';
import { serveFace } from './fixtures/serve-face.ts';

interface Result {
  readonly content: readonly Readonly<Record<string, unknown>>[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean | undefined;
  readonly _meta?: Readonly<Record<string, unknown>> | undefined;
}

interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onprogress?: (progress: { progress: number }) => void;
}

/** What the tests need of a client, whichever SDK it is of. */
interface AnyClient {
  readonly revision: string | undefined;
  readonly instructions: string | undefined;
  list(): Promise<readonly { readonly name: string; readonly [key: string]: unknown }[]>;
  call(name: string, args?: Record<string, unknown>, options?: CallOptions): Promise<Result>;
  /** What came in on the wire, oldest first. */
  readonly received: readonly { readonly method?: string; readonly params?: { readonly progress?: number } }[];
  /** Resolves at the first notice that tools changed. */
  readonly toolsChanged: Promise<void>;
  close(): Promise<void>;
}

const me = { name: 'test', version: '1' };
const program = {
  command: process.execPath,
  args: ['--conditions=source', join(import.meta.dirname, 'fixtures/face-stdio.ts')],
};

/** Keeps what a connected transport receives from now on; SDK clients drop progress that arrives together with the result. */
const record = (transport: { onmessage?: unknown }): AnyClient['received'] => {
  const received: AnyClient['received'][number][] = [];
  const deliver = transport.onmessage as (...args: readonly unknown[]) => void;
  transport.onmessage = (...args: readonly unknown[]) => {
    received.push(args[0] as AnyClient['received'][number]);
    deliver(...args);
  };
  return received;
};

const v1 = async (transport: V1Http | V1Stdio): Promise<AnyClient> => {
  const client = new V1Client(me);
  const changed = Promise.withResolvers<void>();
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => changed.resolve());
  await client.connect(transport);
  return {
    revision: 'protocolVersion' in transport ? transport.protocolVersion : undefined,
    instructions: client.getInstructions(),
    list: async () => (await client.listTools()).tools,
    call: async (name, args, options) =>
      (await client.callTool({ name, ...(args && { arguments: args }) }, undefined, options)) as Result,
    received: record(transport),
    toolsChanged: changed.promise,
    close: () => client.close(),
  };
};

const v2 = async (transport: V2Http | V2Stdio, mode: 'legacy' | 'auto'): Promise<AnyClient> => {
  const changed = Promise.withResolvers<void>();
  const client = new V2Client(me, {
    versionNegotiation: { mode },
    listChanged: { tools: { autoRefresh: false, onChanged: () => changed.resolve() } },
  });
  await client.connect(transport);
  return {
    revision: client.getNegotiatedProtocolVersion(),
    instructions: client.getInstructions(),
    list: async () => (await client.listTools()).tools,
    call: async (name, args, options) => client.callTool({ name, ...(args && { arguments: args }) }, options),
    received: record(transport),
    toolsChanged: changed.promise,
    close: () => client.close(),
  };
};

const clients: readonly {
  readonly kind: string;
  readonly revision: string | undefined;
  readonly connect: (url: URL) => Promise<AnyClient>;
}[] = [
  { kind: 'v1 over HTTP', revision: '2025-11-25', connect: (url) => v1(new V1Http(url)) },
  { kind: 'v2 (2025) over HTTP', revision: '2025-11-25', connect: (url) => v2(new V2Http(url), 'legacy') },
  { kind: 'v2 (2026) over HTTP', revision: '2026-07-28', connect: (url) => v2(new V2Http(url), 'auto') },
  { kind: 'v1 over stdio', revision: undefined, connect: () => v1(new V1Stdio(program)) },
  { kind: 'v2 (2025) over stdio', revision: '2025-11-25', connect: () => v2(new V2Stdio(program), 'legacy') },
  { kind: 'v2 (2026) over stdio', revision: '2026-07-28', connect: () => v2(new V2Stdio(program), 'auto') },
];

let served: ServedFace;
beforeAll(async () => {
  served = await serveFace();
});
afterAll(() => served[Symbol.asyncDispose]());

describe.each(clients)('a client of $kind', ({ revision, connect }) => {
  let client: AnyClient;
  beforeAll(async () => {
    client = await connect(served.url);
  });
  afterAll(() => client.close());

  it('agrees on its newest revision and is told the instructions', () => {
    expect(client.revision).toBe(revision);
    expect(client.instructions).toBe('Be kind.');
  });

  it('lists the tools with their schemas, titles and annotations, local ones before those of servers', async () => {
    const tools = await client.list();
    expect(tools.map(({ name }) => name)).toEqual([
      'big',
      'broken',
      'counts',
      'echo',
      'grow',
      'list',
      'mixed',
      'nothing',
      'parks',
      'sum',
      'wait',
      'whoami',
      'wiki__search',
    ]);
    expect(tools.find(({ name }) => name === 'echo')).toMatchObject({
      description: 'Says it back.',
      title: 'Echo',
      annotations: { readOnlyHint: true },
      inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    });
  });

  it('gets text, structured values and every other kind of content', async () => {
    expect(await client.call('echo', { text: 'hi' })).toMatchObject({ content: [{ type: 'text', text: 'hi' }] });
    expect((await client.call('sum', { a: 1, b: 2 })).structuredContent).toEqual({ total: 3 });
    expect(await client.call('nothing')).toMatchObject({ content: [] });
    const mixed = await client.call('mixed');
    expect(mixed.content).toEqual([
      { type: 'text', text: 'a' },
      { type: 'image', data: 'aGk=', mimeType: 'image/png' },
      { type: 'resource_link', uri: 'x:y', name: 'link' },
      { type: 'resource', resource: { uri: 'x:z', text: 'inside' } },
    ]);
    expect(mixed._meta).toMatchObject({
      'example.org/cost': 3,
      'gantry/attachments': [{ path: 'out/a.txt', name: 'a.txt', size: 1, mime: 'text/plain' }],
    });
  });

  it('gets a structured value that is no object in the form its revision has for it', async () => {
    const { structuredContent, content } = await client.call('list');
    expect(structuredContent).toEqual(revision === '2026-07-28' ? [1, 2] : { result: [1, 2] });
    expect(content).toEqual([{ type: 'text', text: '[1,2]' }]);
  });

  it('gets a failure and refused arguments as an error result', async () => {
    expect(await client.call('broken')).toMatchObject({
      isError: true,
      content: [{ type: 'text', text: 'out of paper' }],
    });
    const refused = await client.call('sum', { a: 1 });
    expect(refused.isError).toBe(true);
    expect(refused.content[0]?.['text']).toMatch(/"sum" was not called.*b/s);
  });

  it('has repairable arguments repaired', async () => {
    expect((await client.call('sum', { a: '1', b: 2 })).structuredContent).toEqual({ total: 3 });
  });

  it('gets a protocol error that names near tools for a tool that does not exist', async () => {
    await expect(client.call('ecko')).rejects.toMatchObject({
      code: -32_602,
      message: expect.stringContaining('Did you mean echo?'),
    });
  });

  it('gets the handle of a parked call', async () => {
    const parked = await client.call('parks');
    expect(parked.content).toEqual([{ type: 'text', text: 'Someone has to answer.' }]);
    expect(parked._meta?.['gantry/handle']).toEqual({
      kind: 'question',
      id: 'q1',
      expiresAt: '2030-01-01T00:00:00Z',
    });
    expect(parked.isError ?? false).toBe(false);
  });

  it('is told of progress in order, before the result', async () => {
    const before = client.received.length;
    const result = await client.call('counts', {}, { onprogress: () => {} });
    expect(result.content).toEqual([{ type: 'text', text: 'counted' }]);
    const messages = client.received.slice(before);
    expect(messages.map(({ method, params }) => (method ? params?.progress : 'result'))).toEqual([1, 2, 3, 'result']);
  });

  it('gets a big result whole', async () => {
    const { content } = await client.call('big', { size: 8_000_000 });
    expect(content[0]?.['text']).toHaveLength(8_000_000);
  });

  it('has many calls answered at once, each with its own result', async () => {
    const texts = Array.from({ length: 50 }, (_, index) => `text ${index}`);
    const results = await Promise.all(texts.map((text) => client.call('echo', { text })));
    expect(results.map(({ content }) => content[0]?.['text'])).toEqual(texts);
  });
});

describe.each(clients)('a client of $kind, alone with its face', ({ connect }) => {
  it('is told when the tools change, and then lists the new ones', async () => {
    await using own = await serveFace();
    const client = await connect(own.url);
    await client.call('grow');
    await client.toolsChanged;
    expect((await client.list()).map(({ name }) => name)).toContain('grown');
    await client.close();
  });
});

describe.each(clients.slice(0, 3))('a client of $kind, as the face sees it', ({ connect }) => {
  it('cancels a call by giving it up', async () => {
    await using own = await serveFace();
    const client = await connect(own.url);
    const controller = new AbortController();
    const call = client.call('wait', {}, { signal: controller.signal });
    const { cancelled } = await own.waiting;
    controller.abort();
    await expect(call).rejects.toThrow();
    expect(await cancelled).toMatchObject({ code: 'cancelled' });
    await client.close();
  });

  it('calls as a client without identity', async () => {
    await using own = await serveFace();
    const client = await connect(own.url);
    await client.call('whoami');
    expect(own.contexts[0]).toMatchObject({ caller: 'client', client: undefined, trace: undefined });
    await client.close();
  });

  it('does not see the typed tools of servers with mode=off, and may still call them', async () => {
    await using own = await serveFace();
    const client = await connect(new URL('?mode=off', own.url));
    expect((await client.list()).map(({ name }) => name)).not.toContain('wiki__search');
    expect((await client.call('wiki__search')).content).toEqual([{ type: 'text', text: 'found' }]);
    await client.close();
  });
});

describe.each(clients.slice(0, 2))('a client of $kind in mode=pinned', ({ connect }) => {
  it('is told when its own list has grown, and no other client is', async () => {
    await using own = await serveFace();
    const pinned = new URL('?mode=pinned', own.url);
    const client = await connect(pinned);
    const bystander = await connect(pinned);
    const names = async (): Promise<string[]> => (await client.list()).map(({ name }) => name);
    expect(await names()).not.toContain('wiki__search');
    // Not listed, and runs all the same.
    expect((await client.call('wiki__search')).content).toEqual([{ type: 'text', text: 'found' }]);
    await client.toolsChanged;
    expect(await names()).toContain('wiki__search');
    expect((await bystander.list()).map(({ name }) => name)).not.toContain('wiki__search');
    expect(bystander.received.map(({ method }) => method)).not.toContain('notifications/tools/list_changed');
    await client.close();
    await bystander.close();
  });
});
