import { fileURLToPath } from 'node:url';
import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startConformanceServer } from './fixtures/conformance/conformance-server.ts';
import type { GantryFolder, ServingGantry } from './fixtures/gantry-process.ts';
import { makeGantryFolder } from './fixtures/gantry-process.ts';
import { openOlderClient } from './fixtures/older-request.ts';
import { startModernRawServer } from './fixtures/modern-raw-server.ts';
import { tappedProgram } from './fixtures/tapped-program.ts';
import { written } from './fixtures/raw-server.ts';
import type { OlderTalkingServer } from './fixtures/older-talking-server.ts';
import { startOlderTalkingServer } from './fixtures/older-talking-server.ts';

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

type Members = Readonly<Record<string, unknown>>;
interface Said {
  readonly notices: readonly { readonly method: string; readonly params: Members }[];
  readonly result: Members | undefined;
  readonly error: Members | undefined;
}

/** One request of a client of 2026, and all that comes back. */
const say = async (
  url: string,
  params: Members,
  {
    can = {},
    meta = {},
    method = 'tools/call',
    token,
  }: { can?: object; meta?: object; method?: string; token?: string } = {},
): Promise<Said> => {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(typeof params['name'] === 'string' && { 'mcp-name': params['name'] }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 7,
      method,
      params: {
        ...params,
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientInfo': { name: 't', version: '1' },
          'io.modelcontextprotocol/clientCapabilities': can,
          ...meta,
        },
      },
    }),
  });
  const body = await response.text();
  const isStream = response.headers.get('content-type')?.includes('event-stream');
  const messages = isStream
    ? [...body.matchAll(/^data: (.+)$/gm)].map(([, data = '']) => JSON.parse(data) as Members)
    : [JSON.parse(body) as Members];
  return {
    notices: messages.filter(({ method: name }) => name !== undefined) as never,
    result: messages.find(({ result }) => result !== undefined)?.['result'] as Members | undefined,
    error: messages.find(({ error }) => error !== undefined)?.['error'] as Members | undefined,
  };
};
const textOf = ({ result }: Said): unknown => (result?.['content'] as { text: string }[] | undefined)?.[0]?.text;
const forms = { elicitation: { form: {} } };

describe('a client of 2026 at a server of 2025', () => {
  let server: OlderTalkingServer;
  let url: string;
  beforeEach(async () => {
    server = open.use(await startOlderTalkingServer());
    const gateway = await serve({ s: { url: server.url } });
    url = `${gateway.url}/mcp/s`;
  });
  const again = (tool: string, { result }: Said, inputResponses: object, can: object = forms): Promise<Said> =>
    say(url, { name: tool, arguments: {}, inputResponses, requestState: result?.['requestState'] }, { can });

  it.each(['ask', 'ask_aside'])('answers what the server asks in the middle of a call (%s)', async (tool) => {
    const asked = await say(url, { name: tool, arguments: {} }, { can: forms });
    expect(asked.result).toMatchObject({
      resultType: 'input_required',
      inputRequests: { q1: { method: 'elicitation/create', params: { message: 'Which box?' } } },
    });
    const done = await again(tool, asked, { q1: { action: 'accept', content: { box: 'left' } } });
    expect(done.result).toMatchObject({ resultType: 'complete' });
    expect(textOf(done)).toBe('{"action":"accept","content":{"box":"left"}}');
  });

  it('answers one question after the other', async () => {
    const first = await say(url, { name: 'ask_twice', arguments: {} }, { can: forms });
    const second = await again('ask_twice', first, { q1: { action: 'accept', content: { first: '1' } } });
    expect(second.result).toMatchObject({ inputRequests: { q1: { params: { message: 'Second?' } } } });
    const done = await again('ask_twice', second, { q1: { action: 'decline' } });
    expect(textOf(done)).toBe('[{"action":"accept","content":{"first":"1"}},{"action":"decline"}]');
  });

  it('is asked for a model and for roots when it has them, and only then', async () => {
    const can = { sampling: {}, roots: {} };
    const sample = await say(url, { name: 'sample', arguments: {} }, { can });
    expect(sample.result).toMatchObject({ inputRequests: { q1: { method: 'sampling/createMessage' } } });
    const content = { type: 'text', text: 'hi' };
    const answer = { role: 'assistant', content, model: 'm', stopReason: 'endTurn' };
    expect(textOf(await again('sample', sample, { q1: answer }, can))).toBe(JSON.stringify(content));
    const roots = await say(url, { name: 'roots', arguments: {} }, { can });
    const listed = await again('roots', roots, { q1: { roots: [{ uri: 'file:///work' }] } }, can);
    expect(textOf(listed)).toContain('file:///work');
    expect(server.opened).toContainEqual({ sampling: {}, roots: {} });
    const refused = await say(url, { name: 'sample', arguments: {} }, { can: forms });
    expect(refused.error ?? refused.result).toMatchObject({ message: expect.stringContaining('sampling') as unknown });
  });

  it('never hears of a question for a credential, which is declined', async () => {
    expect(textOf(await say(url, { name: 'ask_secret', arguments: {} }, { can: forms }))).toBe('{"action":"decline"}');
  });

  it.each([
    ['can be asked', forms],
    ['cannot be asked', {}],
  ])('that %s is asked nothing by a result, which is one of 2026 by its words alone', async (_what, can) => {
    const said = await say(url, { name: 'ask_in_result', arguments: {} }, { can });
    expect([said.result?.['resultType'], textOf(said)]).toEqual(['complete', '"said"']);
    expect(JSON.stringify(said)).not.toContain('password');
  });

  it('hears of progress before and after it has answered, and of the log when it wants to', async () => {
    const meta = { progressToken: 'mine', 'io.modelcontextprotocol/logLevel': 'debug' };
    const asked = await say(url, { name: 'count', arguments: {} }, { can: forms, meta });
    expect(asked.notices.map(({ params }) => [params['progressToken'], params['progress']])).toEqual([
      ['mine', 1],
      ['mine', 2],
    ]);
    const done = await say(
      url,
      {
        name: 'count',
        arguments: {},
        inputResponses: { q1: { action: 'accept', content: { on: true } } },
        requestState: asked.result?.['requestState'],
      },
      { can: forms, meta: { ...meta, progressToken: 'new' } },
    );
    expect(done.notices.map(({ params }) => [params['progressToken'], params['progress']])).toEqual([['new', 3]]);
    const logged = await say(url, { name: 'log', arguments: {} }, { meta });
    expect(logged.notices).toMatchObject([{ method: 'notifications/message', params: { data: 'working' } }]);
    expect((await say(url, { name: 'log', arguments: {} })).notices).toEqual([]);
  });

  it('gets errors of the server with their codes and data', async () => {
    expect((await say(url, { name: 'refuse', arguments: {} }, { can: forms })).error).toEqual({
      code: -32_050,
      message: expect.stringContaining('not today') as unknown,
      data: { until: 'monday' },
    });
  });

  it('gives a call up for the server too when it goes', async () => {
    const client = new ModernClient(
      { name: 't', version: '1' },
      { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: { pin: '2026-07-28' } } },
    );
    await client.connect(new ModernTransport(new URL(url)));
    const gone = new AbortController();
    const call = client.callTool({ name: 'wait', arguments: {} }, { signal: gone.signal });
    await server.waiting;
    gone.abort();
    await expect(call).rejects.toThrow();
    await server.givenUp;
    await client.close();
  });

  it('is answered through an SDK client as if the server spoke its language', async () => {
    const client = new ModernClient(
      { name: 't', version: '1' },
      { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: { pin: '2026-07-28' } } },
    );
    client.setRequestHandler('elicitation/create', async () => ({ action: 'accept', content: { box: 'right' } }));
    await client.connect(new ModernTransport(new URL(url)));
    expect(client.getServerCapabilities()).toMatchObject({
      tools: { listChanged: true },
      resources: { subscribe: true },
      logging: {},
    });
    const result = await client.callTool({ name: 'ask', arguments: {} });
    expect(JSON.stringify(result.content)).toContain('right');
    await client.close();
  });

  it('is not known by the state of another call, or one of its own making', async () => {
    const asked = await say(url, { name: 'ask', arguments: {} }, { can: forms });
    const answers = { q1: { action: 'accept', content: { box: 'x' } } };
    const elsewhere = await again('ask_twice', asked, answers);
    expect(elsewhere.error).toMatchObject({ code: -32_602, message: expect.stringContaining('not open') as unknown });
    const real = String(asked.result?.['requestState']);
    const state = `${real.slice(0, -8)}AAAA${real.slice(-4)}`;
    const changed = await say(
      url,
      { name: 'ask', arguments: {}, inputResponses: answers, requestState: state },
      { can: forms },
    );
    expect(changed.error).toMatchObject({ code: -32_602 });
    expect(textOf(await again('ask', asked, answers))).toContain('"box":"x"');
    // A question is answered once.
    expect((await again('ask', asked, answers)).error).toMatchObject({ code: -32_602 });
  });

  it('has a session that was of nobody else, since it has no name', async () => {
    for (let count = 0; count < 3; count += 1) await say(url, { name: 'roots', arguments: {} }, { can: forms });
    expect(server.opened).toHaveLength(4);
    await expect.poll(() => server.sessions).toBe(1);
    server.forgetSessions();
    const asked = await say(url, { name: 'ask', arguments: {} }, { can: forms });
    expect(asked.result).toMatchObject({ resultType: 'input_required' });
  });

  it('is told of changes it has subscribed to', async () => {
    const client = new ModernClient(
      { name: 't', version: '1' },
      { versionNegotiation: { mode: { pin: '2026-07-28' } } },
    );
    const updated = Promise.withResolvers<string>();
    const listed = Promise.withResolvers<void>();
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => updated.resolve(params.uri));
    client.setNotificationHandler('notifications/tools/list_changed', () => listed.resolve());
    await client.connect(new ModernTransport(new URL(url)));
    const subscription = await client.listen({ toolsListChanged: true, resourceSubscriptions: ['docs://a'] });
    await server.subscribed;
    const before = server.sessions;
    await server.change({ uri: 'docs://a' });
    expect(await updated.promise).toBe('docs://a');
    await server.change('tools');
    await listed.promise;
    await subscription.close();
    await client.close();
    await expect.poll(() => server.sessions).toBeLessThan(before);
  });
});

describe('a client of 2025 at a server of 2026', () => {
  it('hears the log of its own calls from the level on that it has set', async () => {
    const server = open.use(await startConformanceServer(['2026']));
    const gateway = await serve({ s: { url: server.url } });
    const client = new OldClient({ name: 't', version: '1' });
    const heard: unknown[] = [];
    client.fallbackNotificationHandler = async ({ method }) => void heard.push(method);
    await client.connect(new OldTransport(new URL(`${gateway.url}/mcp/s`)));
    await client.callTool({ name: 'test_tool_with_logging', arguments: {} });
    expect(heard).toEqual([]);
    await client.setLoggingLevel('debug');
    await client.callTool({ name: 'test_tool_with_logging', arguments: {} });
    expect(heard).toContain('notifications/message');
    await client.close();
  });

  it('sends arguments as headers where a tool asks for that', async () => {
    const properties = { region: { type: 'string', 'x-mcp-header': 'Region' }, size: { type: 'integer' } };
    const server = open.use(
      await startModernRawServer('place', () => ({ resultType: 'complete', content: [] }), {
        'tools/list': () => ({
          resultType: 'complete',
          ttlMs: 0,
          cacheScope: 'private',
          tools: [{ name: 'place', inputSchema: { type: 'object', properties } }],
        }),
      }),
    );
    const gateway = await serve({ s: { url: server.url } });
    const client = new OldClient({ name: 't', version: '1' });
    await client.connect(new OldTransport(new URL(`${gateway.url}/mcp/s`)));
    await client.callTool({ name: 'place', arguments: { region: 'nord', size: 3 } });
    await client.callTool({ name: 'place', arguments: { region: 'nörd' } });
    const sent = server.seen.filter(({ method }) => method === 'tools/call');
    expect(sent.map(({ headers }) => [headers['mcp-name'], headers['mcp-param-region']])).toEqual([
      ['place', 'nord'],
      ['place', `=?base64?${Buffer.from('nörd').toString('base64')}?=`],
    ]);
    await client.close();
  });

  it('is told of resources it has subscribed to, until it has not', async () => {
    const streams: { filter: unknown; write: (message: object) => void }[] = [];
    const opened = new Map<number, () => void>();
    const streamOf = (count: number): Promise<void> =>
      new Promise((resolve) => {
        if (streams.length >= count) resolve();
        else opened.set(count, resolve);
      });
    const server = open.use(
      await startModernRawServer('a', () => ({ resultType: 'complete', content: [] }), {
        capabilities: { tools: {}, resources: { subscribe: true } },
        'subscriptions/listen': ({ id, params }, response) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          const write = (message: object): void =>
            void response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`);
          const _meta = { 'io.modelcontextprotocol/subscriptionId': id };
          write({
            method: 'notifications/subscriptions/acknowledged',
            params: { notifications: params?.['notifications'], _meta },
          });
          streams.push({ filter: params?.['notifications'], write });
          opened.get(streams.length)?.();
          return written;
        },
      }),
    );
    const gateway = await serve({ s: { url: server.url } });
    const client = new OldClient({ name: 't', version: '1' });
    const updated = Promise.withResolvers<unknown>();
    client.fallbackNotificationHandler = async (notice) => updated.resolve(notice.params);
    await client.connect(new OldTransport(new URL(`${gateway.url}/mcp/s`)));
    await client.subscribeResource({ uri: 'docs://a' });
    await streamOf(1);
    expect(streams[0]?.filter).toEqual({ resourceSubscriptions: ['docs://a'] });
    streams[0]?.write({ method: 'notifications/resources/updated', params: { uri: 'docs://a' } });
    expect(await updated.promise).toEqual({ uri: 'docs://a' });
    await client.subscribeResource({ uri: 'docs://b' });
    await streamOf(2);
    expect(streams[1]?.filter).toEqual({ resourceSubscriptions: ['docs://a', 'docs://b'] });
    await client.unsubscribeResource({ uri: 'docs://a' });
    await streamOf(3);
    expect(streams[2]?.filter).toEqual({ resourceSubscriptions: ['docs://b'] });
    await client.close();
  });
});

describe('a program of 2025', () => {
  const program = fileURLToPath(new URL('./fixtures/older-talking-program.ts', import.meta.url));
  let url: string;
  beforeEach(async () => {
    folder.write('gantry.config.json', { mcp: { stdio: 'launch' } });
    const gateway = await serve({ s: { command: process.execPath, args: [program] } });
    url = `${gateway.url}/mcp/s`;
  });
  const connect = async (box?: string): Promise<OldClient> => {
    const client = new OldClient(
      { name: 't', version: '1' },
      { capabilities: box === undefined ? {} : { elicitation: {}, sampling: {}, roots: {} } },
    );
    if (box !== undefined) {
      client.setRequestHandler(ElicitRequestSchema, async () => ({ action: 'accept', content: { box } }));
      client.setRequestHandler(ListRootsRequestSchema, async () => ({ roots: [{ uri: `file:///${box}` }] }));
      client.setRequestHandler(CreateMessageRequestSchema, async () => ({
        role: 'assistant',
        model: 'm',
        content: { type: 'text', text: box },
      }));
    }
    await client.connect(new OldTransport(new URL(url)));
    open.defer(() => client.close());
    return client;
  };
  const callFor = async (client: OldClient, name: string): Promise<string> =>
    JSON.stringify((await client.callTool({ name, arguments: {} })).content);

  it('asks the client of 2025 that called it, and no other', async () => {
    const [left, right] = [await connect('left'), await connect('right')];
    const answers = await Promise.all(
      ['ask', 'sample', 'roots'].flatMap((tool) => [callFor(left, tool), callFor(right, tool)]),
    );
    expect(
      answers.map((answer) => (answer.includes('left') ? 'left' : answer.includes('right') ? 'right' : answer)),
    ).toEqual(['left', 'right', 'left', 'right', 'left', 'right']);
    expect(await callFor(left, 'ask_secret')).toContain('decline');
  });

  it('runs once for each client that can be asked, and once for all others', async () => {
    const clients = [await connect('a'), await connect('b'), await connect(), await connect()];
    const pids = await Promise.all(clients.map((client) => callFor(client, 'change')));
    expect(new Set(pids).size).toBe(3);
    expect(pids[2]).toBe(pids[3]);
    expect(await callFor(clients[0] as OldClient, 'change')).toBe(pids[0]);
  });

  it('ends when the session it runs for ends', async () => {
    const client = await connect('a');
    const pid = Number(/\d+/.exec(await callFor(client, 'change'))?.[0]);
    await (client.transport as OldTransport).terminateSession();
    await expect
      .poll(() => {
        try {
          return process.kill(pid, 0);
        } catch {
          return false;
        }
      })
      .toBe(false);
  });

  it('tells its client of what it has subscribed to, of progress and of its log', async () => {
    const client = await connect('a');
    const heard: string[] = [];
    client.fallbackNotificationHandler = async ({ method, params }) =>
      void heard.push(typeof params?.['uri'] === 'string' ? `${method} ${params['uri']}` : method);
    await client.setLoggingLevel('debug');
    await client.subscribeResource({ uri: 'docs://a' });
    const steps: number[] = [];
    await client.callTool({ name: 'count', arguments: {} }, undefined, {
      onprogress: (step) => steps.push(step.progress),
    });
    await client.callTool({ name: 'log', arguments: {} });
    await client.callTool({ name: 'change', arguments: {} });
    await expect
      .poll(() => heard)
      .toEqual(
        expect.arrayContaining([
          'notifications/message',
          'notifications/resources/updated docs://a',
          'notifications/tools/list_changed',
        ]),
      );
    expect(steps).toEqual([1, 2, 3]);
  });

  it('asks a client of 2026 in rounds', async () => {
    const asked = await say(url, { name: 'ask', arguments: {} }, { can: forms });
    expect(asked.result).toMatchObject({ inputRequests: { q1: { method: 'elicitation/create' } } });
    const inputResponses = { q1: { action: 'accept', content: { box: 'mine' } } };
    const { requestState } = asked.result ?? {};
    const done = await say(url, { name: 'ask', arguments: {}, inputResponses, requestState }, { can: forms });
    expect(textOf(done)).toContain('mine');
  });
});

describe('a program of 2025 whose clients of 2026 have tokens', () => {
  let call: (name: string, more?: object) => Promise<Said>;
  beforeEach(async () => {
    folder.write('gantry.config.json', { mcp: { stdio: 'launch' }, serve: { requireToken: true } });
    const program = fileURLToPath(new URL('./fixtures/older-talking-program.ts', import.meta.url));
    const token = (await folder.run(['tokens', 'create', 'desk'])).stdout.trim();
    const gateway = await serve({ s: { command: process.execPath, args: [program] } });
    call = (name, more = {}) => say(`${gateway.url}/mcp/s`, { name, arguments: {}, ...more }, { can: forms, token });
  });

  it('asks the device whose call it is about where several have the same token', async () => {
    const answer = (name: string, { result }: Said, content: object): Promise<Said> =>
      call(name, {
        inputResponses: { q1: { action: 'accept', content } },
        requestState: result?.['requestState'],
      });
    const pid = textOf(await call('change'));
    const first = await call('ask_twice');
    expect(first.result).toMatchObject({ inputRequests: { q1: { params: { message: 'First?' } } } });
    const other = await call('ask');
    expect(other.result).toMatchObject({ inputRequests: { q1: { params: { message: 'Which box?' } } } });
    const second = await answer('ask_twice', first, { first: 'mine' });
    expect(second.result).toMatchObject({ inputRequests: { q1: { params: { message: 'Second?' } } } });
    expect(textOf(await answer('ask', other, { box: 'left' }))).toContain('left');
    expect(textOf(await answer('ask_twice', second, { second: 'too' }))).toMatch(/mine.*too/);
    // What it knows of earlier calls the next one finds.
    expect(textOf(await call('change'))).toBe(pid);
  });

  it('makes more calls of one client that can be asked than it is copied for, without asking that client', async () => {
    for (let count = 0; count < 4; count += 1) expect((await call('ask')).result).toHaveProperty('inputRequests');
    expect(textOf(await call('change'))).toMatch(/^\d+$/);
  });
});

it('a call that waits for its client keeps its place among those that may run at a time, and its rounds take none', async () => {
  folder.write('gantry.config.json', { serve: { clients: { '*': { maxConcurrentCalls: 1 } } } });
  const server = open.use(await startOlderTalkingServer());
  const gateway = await serve({ s: { url: server.url } });
  const call = (more: object = {}, can: object = forms): Promise<Said> =>
    say(`${gateway.url}/mcp/s`, { name: 'ask_twice', arguments: {}, ...more }, { can });
  const answer = ({ result }: Said): Promise<Said> =>
    call({ requestState: result?.['requestState'], inputResponses: { q1: { action: 'decline' } } });
  const full = { message: expect.stringContaining('run already') as unknown };
  const first = await call();
  expect((await call()).error).toMatchObject(full);
  const second = await answer(first);
  expect(second.result).toHaveProperty('inputRequests');
  expect((await call()).error).toMatchObject(full);
  // No call is made by a state of one's own making.
  for (const can of [forms, {}])
    expect((await call({ requestState: 'gantry.parked.mine' }, can)).error).toMatchObject({ code: -32_602 });
  expect(textOf(await answer(second))).toContain('decline');
  expect((await call()).result).toHaveProperty('inputRequests');
});

it('a call of 2025 that is cancelled ends its stream, though no answer comes, and gives back its place among those that may run at a time', async () => {
  folder.write('gantry.config.json', {
    mcp: { stdio: 'launch' },
    serve: { clients: { '*': { maxConcurrentCalls: 1 } } },
  });
  const program = fileURLToPath(new URL('./fixtures/modern-talking-program.ts', import.meta.url));
  const tapped = tappedProgram(folder.path, { program });
  const gateway = await serve({ s: tapped.entry });
  const url = new URL(`${gateway.url}/mcp/s`);
  const client = await openOlderClient(url, {});
  const params = { name: 'work', arguments: { name: 'long', waits: true } };
  const running = await client.send(url, { id: 1, method: 'tools/call', params });
  await expect.poll(() => tapped.timesSent('"work"'), { timeout: 10_000 }).toBe(1);
  const go = { method: 'tools/call', params: { name: 'go', arguments: { name: 'other' } } };
  expect((await client.send(url, { id: 2, ...go })).status).toBe(429);
  await client.send(url, { method: 'notifications/cancelled', params: { requestId: 1 } });
  expect(await running.text()).not.toContain('"id":1');
  expect(await (await client.send(url, { id: 3, ...go })).text()).toContain('other');
});

it('a call of 2025 at a program is asked again when the one in which its question was shown is cancelled', async () => {
  folder.write('gantry.config.json', { mcp: { stdio: 'launch' } });
  const program = fileURLToPath(new URL('./fixtures/older-talking-program.ts', import.meta.url));
  const tapped = tappedProgram(folder.path, { program });
  const gateway = await serve({ s: tapped.entry });
  const client = new OldClient({ name: 't', version: '1' }, { capabilities: { elicitation: {} } });
  const waits = Promise.withResolvers<void>();
  const ending = new AbortController();
  let asked = 0;
  client.setRequestHandler(ElicitRequestSchema, async ({ params }, { signal }) => {
    asked += 1;
    if (params.message === 'First?') await waits.promise;
    if (asked === 2) {
      const over = new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      ending.abort();
      await over;
    }
    return { action: 'accept', content: { [asked === 1 ? 'first' : 'second']: 'mine' } };
  });
  await client.connect(new OldTransport(new URL(`${gateway.url}/mcp/s`)));
  const call = client.callTool({ name: 'ask_twice', arguments: {} });
  await expect.poll(() => asked, { timeout: 10_000 }).toBe(1);
  const cancelled = client.callTool({ name: 'wait', arguments: {} }, undefined, { signal: ending.signal });
  cancelled.catch(() => undefined);
  await expect.poll(() => tapped.timesSent('"wait"'), { timeout: 10_000 }).toBe(1);
  waits.resolve();
  expect(JSON.stringify((await call).content)).toContain('second');
  await expect(cancelled).rejects.toThrow();
  expect(asked).toBe(3);
  await client.close();
});

describe('a program of 2026', () => {
  it('is told what a client can do, and asks it itself', async () => {
    const program = fileURLToPath(new URL('./fixtures/modern-program.ts', import.meta.url));
    folder.write('gantry.config.json', { mcp: { stdio: 'launch' } });
    const gateway = await serve({ s: { command: process.execPath, args: [program] } });
    const url = `${gateway.url}/mcp/s`;
    const asked = await say(url, { name: 'ask', arguments: {} }, { can: forms });
    expect(asked.result).toMatchObject({ resultType: 'input_required', requestState: 'half way' });
    const inputResponses = { box: { action: 'accept', content: { box: 'mine' } } };
    const done = await say(
      url,
      { name: 'ask', arguments: {}, inputResponses, requestState: 'half way' },
      { can: forms },
    );
    expect(textOf(done)).toBe('{"action":"accept","content":{"box":"mine"}}');
    expect(textOf(await say(url, { name: 'ask', arguments: {} }))).toBe('cannot be asked');
    const old = new OldClient({ name: 't', version: '1' }, { capabilities: { elicitation: {} } });
    old.setRequestHandler(ElicitRequestSchema, async () => ({ action: 'accept', content: { box: 'old' } }));
    await old.connect(new OldTransport(new URL(url)));
    expect(JSON.stringify((await old.callTool({ name: 'ask', arguments: {} })).content)).toContain('old');
    await old.close();
  });
});
