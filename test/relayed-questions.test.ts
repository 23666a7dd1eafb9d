import { fileURLToPath } from 'node:url';
import { Client as NewClient, StreamableHTTPClientTransport as NewTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { GantryFolder } from './fixtures/gantry-process.ts';
import { makeGantryFolder } from './fixtures/gantry-process.ts';
import { startModernRawServer } from './fixtures/modern-raw-server.ts';
import type { RawServer } from './fixtures/raw-server.ts';
import { toolNamed } from './fixtures/raw-server.ts';
import type { OlderTalkingServer } from './fixtures/older-talking-server.ts';
import { startOlderTalkingServer } from './fixtures/older-talking-server.ts';

type Members = Readonly<Record<string, unknown>>;

const form = (name: string) => ({
  type: 'object',
  properties: { [name]: { type: 'string' } },
  required: [name],
});
const requests: Readonly<Record<string, Members>> = {
  ask: { method: 'elicitation/create', params: { mode: 'form', message: 'Which box?', requestedSchema: form('box') } },
  ask_secret: {
    method: 'elicitation/create',
    params: { mode: 'form', message: 'Yours?', requestedSchema: form('password') },
  },
  ask_page: {
    method: 'elicitation/create',
    params: { mode: 'url', message: 'Please look.', url: 'https://pages.example/look' },
  },
  sample: {
    method: 'sampling/createMessage',
    params: { messages: [{ role: 'user', content: { type: 'text', text: 'Say hi.' } }], maxTokens: 5 },
  },
  roots: { method: 'roots/list', params: {} },
};

/** A server of 2026 each of whose tools asks for one thing, if its client can be asked for that, and gives back the answer. */
const startAsker = (): Promise<RawServer> =>
  startModernRawServer(
    'ask',
    ({ params = {} }) => {
      const text = (said: string): object => ({ resultType: 'complete', content: [{ type: 'text', text: said }] });
      const { inputResponses, requestState } = params;
      if (inputResponses) return text(requestState === 'half way' ? JSON.stringify(inputResponses) : 'lost');
      const request = requests[String(params['name'])] as Members;
      const can = (params['_meta'] as Members)['io.modelcontextprotocol/clientCapabilities'] as Members;
      const [capability = ''] = String(request['method']).split('/');
      if (!can[capability]) return text(`no ${capability}`);
      return { resultType: 'input_required', inputRequests: { it: request }, requestState: 'half way' };
    },
    {
      'tools/list': () => ({
        resultType: 'complete',
        ttlMs: 0,
        cacheScope: 'private',
        tools: Object.keys(requests).map((name) => toolNamed(name)),
      }),
    },
  );

const program = (name: string): string => fileURLToPath(new URL(`./fixtures/${name}.ts`, import.meta.url));
const everything = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };

interface Connected {
  call(tool: string, options?: { readonly args?: Members; readonly signal?: AbortSignal }): Promise<string>;
  /** The messages of the questions that it was asked. */
  readonly asked: string[];
}

describe.each(['2025', '2026'] as const)('a client of %s at /mcp', (generation) => {
  let folder: GantryFolder;
  let open: AsyncDisposableStack;
  let older: OlderTalkingServer;
  let url: URL;
  const serve = async (entries: (parts: { older: string; newer: string }) => object): Promise<void> => {
    older = open.use(await startOlderTalkingServer());
    const newer = open.use(await startAsker());
    folder.write('gantry.config.json', { mcp: { stdio: 'launch' } });
    folder.write('mcp.json', { mcpServers: entries({ older: older.url, newer: newer.url }) });
    const gateway = open.use(await folder.serve());
    url = new URL('/mcp', gateway.url);
    const stateOf = async (): Promise<readonly unknown[]> => {
      const response = await fetch(new URL('/api/v1/servers', gateway.url));
      const { servers } = (await response.json()) as { servers: { state: string }[] };
      return servers.map(({ state }) => state).filter((state) => state !== 'connected');
    };
    await expect.poll(stateOf, { timeout: 15_000 }).toEqual([]);
  };
  beforeEach(() => {
    folder = makeGantryFolder();
    open = new AsyncDisposableStack();
  });
  afterEach(async () => {
    await open.disposeAsync();
    folder[Symbol.dispose]();
  });

  /** Answers every form and page with `box`, after `answering` where that is given. */
  const connect = async (
    box: string,
    {
      capabilities = everything,
      answering = async () => {},
    }: { capabilities?: object; answering?: () => Promise<void> } = {},
  ): Promise<Connected> => {
    const asked: string[] = [];
    const elicit = async ({ params }: { params: Members }) => {
      asked.push(String(params['message']));
      await answering();
      return { action: 'accept' as const, ...(params['mode'] !== 'url' && { content: { box } }) };
    };
    const sample = async () => {
      const content = { type: 'text' as const, text: box };
      return { role: 'assistant' as const, model: 'm', content };
    };
    const roots = async () => ({ roots: [{ uri: `file:///${box}` }] });
    const has = (name: string): boolean => name in capabilities;
    const textIn = ({ content }: Members): string => JSON.stringify(content).replaceAll('\\', '');
    if (generation === '2025') {
      const client = new OldClient({ name: 't', version: '1' }, { capabilities });
      if (has('elicitation')) client.setRequestHandler(ElicitRequestSchema, elicit);
      if (has('sampling')) client.setRequestHandler(CreateMessageRequestSchema, sample);
      if (has('roots')) client.setRequestHandler(ListRootsRequestSchema, roots);
      await client.connect(new OldTransport(url));
      open.defer(() => client.close());
      return {
        asked,
        call: async (name, { args = {}, signal } = {}) =>
          textIn(await client.callTool({ name, arguments: args }, undefined, { ...(signal && { signal }) })),
      };
    }
    const client = new NewClient(
      { name: 't', version: '1' },
      { capabilities, versionNegotiation: { mode: { pin: '2026-07-28' } } },
    );
    if (has('elicitation')) client.setRequestHandler('elicitation/create', elicit as never);
    if (has('sampling')) client.setRequestHandler('sampling/createMessage', sample);
    if (has('roots')) client.setRequestHandler('roots/list', roots);
    await client.connect(new NewTransport(url));
    open.defer(() => client.close());
    return {
      asked,
      call: async (name, { args = {}, signal } = {}) =>
        textIn(await client.callTool({ name, arguments: args }, { ...(signal && { signal }) })),
    };
  };

  it('answers what servers of either generation ask, over HTTP and as programs', async () => {
    await serve(({ older: old, newer }) => ({
      old: { url: old },
      new: { url: newer },
      oldprogram: { command: process.execPath, args: [program('older-talking-program')] },
      newprogram: { command: process.execPath, args: [program('modern-program')] },
    }));
    const { call, asked } = await connect('mine');
    for (const server of ['old', 'new', 'oldprogram'])
      for (const tool of ['ask', 'ask_page', 'sample', 'roots'])
        expect
          .soft(await call(`${server}__${tool}`), `${server} ${tool}`)
          .toContain(tool === 'ask_page' ? '"action":"accept"' : 'mine');
    expect(await call('newprogram__ask')).toContain('mine');
    // Not on the stream of the call.
    expect(await call('old__ask_aside')).toContain('mine');
    const args = { server_name: 'new', tool_name: 'ask', arguments: {} };
    expect(await call('mcp_invoke_tool', { args })).toContain('mine');
    expect(asked).toHaveLength(9);
    expect(older.opened).toContainEqual(everything);
  });

  it('is not asked for a credential, which is declined in its place', async () => {
    await serve(({ older: old, newer }) => ({ old: { url: old }, new: { url: newer } }));
    const { call, asked } = await connect('mine');
    for (const server of ['old', 'new']) expect(await call(`${server}__ask_secret`)).toContain('"action":"decline"');
    expect(asked).toEqual([]);
  });

  it('that cannot be asked leaves questions to the policy of the server', async () => {
    await serve(({ older: old, newer }) => ({
      old: { url: old, elicitation: { defaults: { box: 'the default' } } },
      new: { url: newer, elicitation: { defaults: { box: 'the default' } } },
    }));
    const { call } = await connect('mine', { capabilities: {} });
    for (const server of ['old', 'new']) expect(await call(`${server}__ask`)).toContain('the default');
    expect(await call('new__roots')).toContain('no roots');
  });

  it('is not asked where the policy is against it, or answers already', async () => {
    await serve(({ older: old, newer }) => ({
      off: { url: `${newer}?off`, elicitation: { mode: 'off' } },
      oldoff: { url: old, elicitation: { mode: 'off' } },
      never: { url: `${newer}?never`, elicitation: { mode: 'decline' } },
      known: { url: `${newer}?known`, elicitation: { defaults: { box: 'the default' } } },
    }));
    const { call, asked } = await connect('mine');
    expect(await call('off__ask')).toContain('no elicitation');
    expect(await call('oldoff__ask')).not.toContain('mine');
    expect(await call('never__ask')).toContain('"action":"decline"');
    expect(await call('known__ask')).toContain('the default');
    expect(asked).toEqual([]);
  });

  it('gets its own questions while another is asked at the same time', async () => {
    await serve(({ older: old, newer }) => ({
      old: { url: old },
      new: { url: newer },
      oldprogram: { command: process.execPath, args: [program('older-talking-program')] },
    }));
    const both = Promise.withResolvers<void>();
    let count = 0;
    const answering = async (): Promise<void> => {
      count += 1;
      if (count === 6) both.resolve();
      await both.promise;
    };
    const [left, right] = [await connect('left', { answering }), await connect('right', { answering })];
    const calls = ['old__ask', 'new__ask', 'oldprogram__ask'].flatMap((tool) => [left.call(tool), right.call(tool)]);
    // None ends before all are asked.
    expect(await Promise.race([both.promise, ...calls])).toBeUndefined();
    const answers = await Promise.all(calls);
    expect(answers.map((answer) => /left|right/.exec(answer)?.[0])).toEqual([
      'left',
      'right',
      'left',
      'right',
      'left',
      'right',
    ]);
  });

  it.each(['ask', 'ask_aside'])('may take longer to answer than a call may be silent (%s)', async (tool) => {
    await serve(({ older: old }) => ({ old: { url: old, toolTimeoutMs: 300 } }));
    const waiter = await connect('waiter', { capabilities: {} });
    const { call } = await connect('mine', {
      // A call that only waits has had its time by then.
      answering: async () => {
        expect(await waiter.call('old__wait')).toContain('300 ms');
      },
    });
    expect(await call(`old__${tool}`)).toContain('mine');
  });

  // Between two requests a client of 2026 has nothing that it could give up.
  if (generation === '2025')
    it('that gives the call up while it is asked ends it at the server', async () => {
      await serve(({ older: old }) => ({ old: { url: old } }));
      const isAsked = Promise.withResolvers<void>();
      const answering = (): Promise<void> => {
        isAsked.resolve();
        return new Promise(() => {});
      };
      const { call } = await connect('mine', { answering });
      const ending = new AbortController();
      const called = call('old__ask', { signal: ending.signal });
      called.catch(() => undefined);
      await isAsked.promise;
      ending.abort();
      await expect(called).rejects.toThrow();
      await older.givenUp;
      const other = await connect('other');
      expect(await other.call('old__ask')).toContain('other');
    });
});
