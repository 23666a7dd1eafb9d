import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema, ListRootsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { GantryFolder } from './fixtures/gantry-process.ts';
import { makeGantryFolder } from './fixtures/gantry-process.ts';
import type { OpenStream } from './fixtures/newer-request.ts';
import { openNewer, sendNewer } from './fixtures/newer-request.ts';
import { startSseTalkingServer } from './fixtures/older-talking-server.ts';
import type { TappedProgram } from './fixtures/tapped-program.ts';
import { tappedProgram } from './fixtures/tapped-program.ts';

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

const pathOf = (name: string): string => fileURLToPath(new URL(`./fixtures/${name}.ts`, import.meta.url));
const serve = async (entry: object): Promise<string> => {
  folder.write('gantry.config.json', { mcp: { stdio: 'launch' } });
  folder.write('mcp.json', { mcpServers: { s: entry } });
  const { url } = open.use(await folder.serve());
  return `${url}/mcp/s`;
};
const call = (url: string, name: string, args: object, more: Parameters<typeof sendNewer>[3] = {}) =>
  sendNewer(url, 'tools/call', { name, arguments: args }, more);
const logLevel = { 'io.modelcontextprotocol/logLevel': 'info' };
const subscriptionId = 'io.modelcontextprotocol/subscriptionId';

describe('a program of 2026 that all clients share', () => {
  let program: TappedProgram;
  let url: string;
  beforeEach(async () => {
    program = tappedProgram(folder.path, { program: pathOf('modern-talking-program') });
    url = await serve(program.entry);
  });
  const listen = async (notifications: object): Promise<OpenStream> => {
    const stream = open.use(await openNewer(url, 'subscriptions/listen', { notifications }));
    expect(await stream.next()).toMatchObject({ method: 'notifications/subscriptions/acknowledged' });
    return stream;
  };
  const connectOlder = async (): Promise<{ client: OldClient; heard: { method: string; params?: unknown }[] }> => {
    const client = new OldClient({ name: 't', version: '1' });
    const heard: { method: string; params?: unknown }[] = [];
    client.fallbackNotificationHandler = async (notice) => void heard.push(notice);
    await client.connect(new OldTransport(new URL(url)));
    open.defer(() => client.close());
    return { client, heard };
  };

  it('offers clients of both generations what it tells of', async () => {
    const { result } = await sendNewer(url, 'server/discover', {});
    const { client } = await connectOlder();
    for (const capabilities of [result?.['capabilities'], client.getServerCapabilities()])
      expect(capabilities).toMatchObject({
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { listChanged: true, subscribe: true },
        logging: {},
      });
  });

  it('tells each client of 2026 what it listens to, under the id of its own request', async () => {
    const one = await listen({ resourceSubscriptions: ['docs://a'], toolsListChanged: true });
    const other = await listen({ resourceSubscriptions: ['docs://b'] });
    for (const what of ['docs://a', 'prompts', 'docs://b', 'tools']) await call(url, 'change', { what });
    expect(await one.next()).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/resources/updated',
      params: { uri: 'docs://a', _meta: { [subscriptionId]: 1 } },
    });
    expect(await one.next()).toMatchObject({ method: 'notifications/tools/list_changed' });
    expect(await other.next()).toMatchObject({
      method: 'notifications/resources/updated',
      params: { uri: 'docs://b' },
    });
  });

  it('says which of the wishes it grants, and tells through an SDK client', async () => {
    const client = new ModernClient(
      { name: 't', version: '1' },
      { versionNegotiation: { mode: { pin: '2026-07-28' } } },
    );
    const updated = Promise.withResolvers<string>();
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => updated.resolve(params.uri));
    await client.connect(new ModernTransport(new URL(url)));
    open.defer(() => client.close());
    const subscription = await client.listen({ promptsListChanged: true, resourceSubscriptions: ['docs://a'] });
    expect(subscription.honoredFilter).toEqual({ promptsListChanged: true, resourceSubscriptions: ['docs://a'] });
    await client.callTool({ name: 'change', arguments: { what: 'docs://a' } });
    expect(await updated.promise).toBe('docs://a');
  });

  it('is told when a client has gone', async () => {
    const stream = await listen({ toolsListChanged: true });
    const other = await listen({ toolsListChanged: true });
    await stream[Symbol.asyncDispose]();
    await expect.poll(() => program.timesSent('notifications/cancelled')).toBe(1);
    await call(url, 'change', { what: 'tools' });
    expect(await other.next()).toMatchObject({ method: 'notifications/tools/list_changed' });
  });

  it('gives its own reason where it refuses to tell', async () => {
    const { error } = await sendNewer(url, 'subscriptions/listen', { notifications: 'everything' });
    expect(error).toMatchObject({ code: -32_602, message: expect.stringContaining('notifications') as unknown });
  });

  it('ends what a client listens to with a result when it ends, and the client may listen anew', async () => {
    const stream = await listen({ toolsListChanged: true });
    program.kill();
    expect(await stream.next()).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: { resultType: 'complete', _meta: { [subscriptionId]: 1 } },
    });
    const again = await listen({ toolsListChanged: true });
    await call(url, 'change', { what: 'tools' });
    expect(await again.next()).toMatchObject({ method: 'notifications/tools/list_changed' });
  });

  it('is let go of when its entry changes although somebody listens', async () => {
    const stream = await listen({ toolsListChanged: true });
    folder.write('mcp.json', { mcpServers: { s: { ...program.entry, env: { CHANGED: '1' } } } });
    expect(await stream.next()).toMatchObject({ result: { resultType: 'complete' } });
    await expect.poll(() => program.running()).toBe(1);
  });

  it('tells a client of 2025 of lists, and of resources it has subscribed to until it has not', async () => {
    const { client, heard } = await connectOlder();
    await client.subscribeResource({ uri: 'docs://a' });
    const change = (what: string) => client.callTool({ name: 'change', arguments: { what } });
    await change('docs://a');
    await change('docs://b');
    await change('prompts');
    await expect.poll(() => heard).toHaveLength(2);
    expect(heard).toMatchObject([
      { method: 'notifications/resources/updated', params: { uri: 'docs://a' } },
      { method: 'notifications/prompts/list_changed' },
    ]);
    await client.unsubscribeResource({ uri: 'docs://a' });
    await expect.poll(() => program.timesSent('notifications/cancelled')).toBe(2);
    await change('docs://a');
    await change('resources');
    await expect.poll(() => heard.map(({ method }) => method).at(-1)).toBe('notifications/resources/list_changed');
    expect(heard).toHaveLength(3);
  });

  it('tells a session of 2025 again after it was started anew', async () => {
    const { client, heard } = await connectOlder();
    await client.subscribeResource({ uri: 'docs://a' });
    program.kill();
    const change = (): Promise<unknown> =>
      client.callTool({ name: 'change', arguments: { what: 'docs://a' } }).catch(() => undefined);
    await expect.poll(() => change().then(() => heard.length), { timeout: 20_000 }).toBeGreaterThan(0);
    expect(heard[0]).toMatchObject({ method: 'notifications/resources/updated' });
  });

  it('tells a client of 2026 of the progress and the log of its call, where it wants them', async () => {
    const stream = open.use(
      await openNewer(
        url,
        'tools/call',
        { name: 'work', arguments: { name: 'w' } },
        {
          meta: { ...logLevel, progressToken: 'mine' },
        },
      ),
    );
    const said = await stream.rest();
    expect(said.map(({ method, params }) => [method, params?.['data'] ?? params?.['progressToken']])).toEqual([
      ['notifications/progress', 'mine'],
      ['notifications/message', 'w 1'],
      ['notifications/progress', 'mine'],
      ['notifications/message', 'w 2'],
      [undefined, undefined],
    ]);
    const quiet = open.use(await openNewer(url, 'tools/call', { name: 'work', arguments: { name: 'w' } }));
    expect(await quiet.rest()).toHaveLength(1);
  });

  it('lives on where a client gives a large call up that it does not read yet', async () => {
    const busy = call(url, 'sleep', { ms: 1_500 });
    const large = call(url, 'work', { name: 'x'.repeat(2_000_000) }, { signal: AbortSignal.timeout(300) });
    await expect(large).rejects.toThrow();
    await busy;
    expect((await call(url, 'work', { name: 'after' })).result).toMatchObject({ content: [{ text: 'after' }] });
  });

  it('tells a session of 2025 of the log of its calls from the level on that it has set', async () => {
    const { client, heard } = await connectOlder();
    await client.callTool({ name: 'work', arguments: { name: 'w' } });
    expect(heard).toEqual([]);
    await client.setLoggingLevel('info');
    const progress: unknown[] = [];
    await client.callTool({ name: 'work', arguments: { name: 'w' } }, undefined, {
      onprogress: (told) => progress.push(told),
    });
    expect(heard.map(({ method }) => method)).toEqual(['notifications/message', 'notifications/message']);
    expect(progress).toEqual([{ progress: 1 }, { progress: 2 }]);
  });
});

it('a program of 2026 tells nobody of its log once another client has used it, since it does not say whom a message concerns', async () => {
  folder.write('gantry.config.json', { mcp: { stdio: 'launch' }, serve: { requireToken: true } });
  folder.write('mcp.json', {
    mcpServers: { s: { command: process.execPath, args: [pathOf('modern-talking-program')] } },
  });
  const tokens = new Map<string, string>();
  for (const who of ['ann', 'ben']) tokens.set(who, (await folder.run(['tokens', 'create', who])).stdout.trim());
  const url = `${open.use(await folder.serve()).url}/mcp/s`;
  const logged = async (who: string): Promise<number> => {
    const headers = { authorization: `Bearer ${tokens.get(who)}` };
    const args = { name: 'work', arguments: { name: who } };
    const stream = open.use(await openNewer(url, 'tools/call', args, { headers, meta: logLevel }));
    return (await stream.rest()).filter(({ method }) => method === 'notifications/message').length;
  };
  expect([await logged('ann'), await logged('ann'), await logged('ben'), await logged('ann')]).toEqual([2, 2, 0, 0]);
});

describe('a program of 2026 with tasks', () => {
  it('tells a client of the state of its task without a question for a credential, which is declined', async () => {
    const url = await serve({ command: process.execPath, args: [pathOf('modern-program')] });
    const { result } = await call(url, 'long', {});
    expect(result).toMatchObject({ resultType: 'task', taskId: 'the task' });
    const stream = open.use(await openNewer(url, 'subscriptions/listen', { notifications: { taskIds: ['the task'] } }));
    expect(await stream.next()).toMatchObject({ params: { notifications: { taskIds: ['the task'] } } });
    await call(url, 'want', { field: 'password' });
    const told = await stream.next();
    expect(told).toMatchObject({ method: 'notifications/tasks', params: { taskId: 'the task', status: 'working' } });
    expect(told?.params).not.toHaveProperty('inputRequests');
    const later = [await stream.next(), await stream.next()];
    expect(later).toContainEqual(
      expect.objectContaining({
        params: expect.objectContaining({
          status: 'completed',
          result: { content: [{ type: 'text', text: '{"action":"decline"}' }] },
        }) as unknown,
      }),
    );
  });
});

describe('a program of 2026 that says what it should not', () => {
  let url: string;
  beforeEach(async () => {
    url = await serve({ command: process.execPath, args: [pathOf('modern-program')] });
  });

  it('is not passed on what nests too deep, and its answer is an error', async () => {
    const meta = { progressToken: 1 };
    const stream = open.use(await openNewer(url, 'tools/call', { name: 'deep', arguments: {} }, { meta }));
    const said = await stream.rest();
    expect(said).toHaveLength(1);
    expect(said[0]?.error?.message).toContain('nests deeper than 1000 levels');
    expect((await call(url, 'ask', {}, { can: {} })).result).toMatchObject({ content: [{ text: 'cannot be asked' }] });
  });

  it('asks nothing of a session of 2025 by a notice', async () => {
    const client = new OldClient({ name: 't', version: '1' });
    const heard: string[] = [];
    client.fallbackNotificationHandler = async ({ method }) => void heard.push(method);
    await client.connect(new OldTransport(new URL(url)));
    open.defer(() => client.close());
    await expect
      .poll(async () => {
        await client.callTool({ name: 'want', arguments: { field: 'password' } });
        return heard.length;
      })
      .toBeGreaterThan(1);
    expect(new Set(heard)).toEqual(new Set(['notifications/tools/list_changed']));
  });
});

describe.each(['a program', 'a server over SSE'])(
  '%s of 2025 that is shared by clients which cannot be asked',
  (kind) => {
    let url: string;
    let program: TappedProgram;
    beforeEach(async () => {
      program = tappedProgram(folder.path, { program: pathOf('older-talking-program') });
      url = await serve(kind === 'a program' ? program.entry : { url: open.use(await startSseTalkingServer()).url });
    });
    const connect = async (box?: string): Promise<{ client: OldClient; heard: unknown[] }> => {
      const client = new OldClient(
        { name: 't', version: '1' },
        { capabilities: box === undefined ? {} : { elicitation: {} } },
      );
      if (box !== undefined)
        client.setRequestHandler(ElicitRequestSchema, async () => ({ action: 'accept', content: { box } }));
      const heard: unknown[] = [];
      client.fallbackNotificationHandler = async ({ method, params }) => void heard.push(params?.['uri'] ?? method);
      await client.connect(new OldTransport(new URL(url)));
      open.defer(() => client.close());
      return { client, heard };
    };
    const textOf = async (calling: Promise<unknown>): Promise<string> => JSON.stringify(await calling);
    const listChanged = 'notifications/tools/list_changed';

    it('tells each of lists, and of the resources to which it has subscribed itself', async () => {
      const one = await connect();
      const other = await connect();
      await one.client.subscribeResource({ uri: 'docs://a' });
      await other.client.subscribeResource({ uri: 'docs://b' });
      await other.client.callTool({ name: 'change', arguments: {} });
      await expect
        .poll(() => [one.heard, other.heard])
        .toEqual([
          ['docs://a', listChanged],
          ['docs://b', listChanged],
        ]);
      await one.client.unsubscribeResource({ uri: 'docs://a' });
      await one.client.callTool({ name: 'change', arguments: {} });
      await expect
        .poll(() => [one.heard, other.heard])
        .toEqual([
          ['docs://a', listChanged, listChanged],
          ['docs://b', listChanged, 'docs://b', listChanged],
        ]);
    });

    it('is told once of a resource that several want to hear of, until the last does not', async () => {
      const sessions = [await connect(), await connect()];
      for (const { client } of sessions) await client.subscribeResource({ uri: 'docs://a' });
      await sessions[0]?.client.unsubscribeResource({ uri: 'docs://a' });
      await sessions[0]?.client.callTool({ name: 'change', arguments: {} });
      await expect.poll(() => sessions[1]?.heard).toEqual(['docs://a', listChanged]);
      if (kind === 'a program') {
        expect(program.timesSent('resources/subscribe')).toBe(1);
        expect(program.timesSent('resources/unsubscribe')).toBe(0);
      }
    });

    it('tells a client of 2026 what it listens to', async () => {
      const stream = open.use(
        await openNewer(
          url,
          'subscriptions/listen',
          { notifications: { toolsListChanged: true, resourceSubscriptions: ['docs://a'] } },
          { can: {} },
        ),
      );
      expect(await stream.next()).toMatchObject({
        params: { notifications: { toolsListChanged: true, resourceSubscriptions: ['docs://a'] } },
      });
      await call(url, 'change', {}, { can: {} });
      expect(await stream.next()).toEqual({
        jsonrpc: '2.0',
        method: 'notifications/resources/updated',
        params: { uri: 'docs://a', _meta: { [subscriptionId]: 1 } },
      });
      expect(await stream.next()).toMatchObject({ method: listChanged });
    });

    it('tells a session of the log of its calls from the level on that it has set, and no other', async () => {
      const { client, heard } = await connect();
      const other = await connect();
      await client.callTool({ name: 'log', arguments: {} });
      await client.setLoggingLevel('error');
      await client.callTool({ name: 'log', arguments: {} });
      expect(heard).toEqual([]);
      await client.setLoggingLevel('debug');
      await client.callTool({ name: 'log', arguments: {} });
      await other.client.callTool({ name: 'log', arguments: {} });
      expect([heard, other.heard]).toEqual([['notifications/message'], []]);
      await expect(client.setLoggingLevel('loud' as never)).rejects.toThrow('debug, info');
    });

    it('tells a client of 2026 of the log of its call, where it wants it', async () => {
      const stream = open.use(
        await openNewer(url, 'tools/call', { name: 'log', arguments: {} }, { can: {}, meta: logLevel }),
      );
      expect((await stream.rest()).map(({ method }) => method)).toEqual(['notifications/message', undefined]);
    });

    it('asks those that can be asked over a session of their own', async () => {
      const [left, right] = [await connect('left'), await connect('right')];
      const ask = ({ client }: typeof left): Promise<string> => textOf(client.callTool({ name: 'ask', arguments: {} }));
      const answers = await Promise.all([ask(left), ask(right)]);
      expect(answers.map((answer) => /left|right/.exec(answer)?.[0])).toEqual(['left', 'right']);
      const asked = await call(url, 'ask', {}, { can: { elicitation: { form: {} } } });
      expect(asked.result).toMatchObject({ inputRequests: { q1: { method: 'elicitation/create' } } });
      const inputResponses = { q1: { action: 'accept', content: { box: 'mine' } } };
      const { requestState } = asked.result ?? {};
      const again = { name: 'ask', arguments: {}, inputResponses, requestState };
      expect(await textOf(sendNewer(url, 'tools/call', again))).toContain('mine');
    });
  },
);

it('a server over SSE whose streams break is connected anew, with all that clients listen to', async () => {
  const server = open.use(await startSseTalkingServer());
  const url = await serve({ url: server.url });
  const client = new OldClient({ name: 't', version: '1' });
  const heard: unknown[] = [];
  client.fallbackNotificationHandler = async ({ method, params }) => void heard.push(params?.['uri'] ?? method);
  await client.connect(new OldTransport(new URL(url)));
  open.defer(() => client.close());
  await client.subscribeResource({ uri: 'docs://a' });
  const waiting = client.callTool({ name: 'wait', arguments: {} });
  await server.waiting;
  server.breakStreams();
  // At once, not when the time of the call is over.
  await expect(waiting).rejects.toThrow('broke');
  const change = (): Promise<unknown> => client.callTool({ name: 'change', arguments: {} }).catch(() => undefined);
  await expect.poll(() => change().then(() => heard), { timeout: 20_000 }).toContain('docs://a');
});

it('a server over SSE has a session for each client that can be asked, which ends with that of the client', async () => {
  const server = open.use(await startSseTalkingServer());
  const url = await serve({ url: server.url });
  const client = new OldClient({ name: 't', version: '1' }, { capabilities: { elicitation: {} } });
  const transport = new OldTransport(new URL(url));
  await client.connect(transport);
  expect(server.sessions).toBe(1);
  await client.callTool({ name: 'log', arguments: {} });
  expect(server.sessions).toBe(2);
  await transport.terminateSession();
  await client.close();
  await expect.poll(() => server.sessions).toBe(1);
});

it('a program of 2025 learns of the roots of its client, and of others when the client changes them', async () => {
  const server = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-filesystem/dist/index.js');
  const roots = ['first', 'second'].map((name) => {
    const path = join(folder.path, name);
    mkdirSync(path);
    return path;
  });
  const url = await serve({ command: process.execPath, args: [server] });
  const client = new OldClient({ name: 't', version: '1' }, { capabilities: { roots: { listChanged: true } } });
  client.setRequestHandler(ListRootsRequestSchema, async () => ({ roots: [{ uri: `file://${roots[0]}` }] }));
  await client.connect(new OldTransport(new URL(url)));
  open.defer(() => client.close());
  const allowed = async (): Promise<string> =>
    JSON.stringify((await client.callTool({ name: 'list_allowed_directories', arguments: {} })).content);
  await expect.poll(allowed).toContain('first');
  roots.shift();
  await client.sendRootsListChanged();
  await expect.poll(allowed).toContain('second');
});
