import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AskingServer } from './fixtures/asking-server.ts';
import { startAskingServer } from './fixtures/asking-server.ts';
import type { ModelServer } from './fixtures/model-server.ts';
import { startModel } from './fixtures/model-server.ts';
import type { ModernServer } from './fixtures/modern-server.ts';
import { startModernServer } from './fixtures/modern-server.ts';
import type { PostgresServer } from './fixtures/postgres-server.ts';
import { hasPostgres, startPostgresServer } from './fixtures/postgres-server.ts';
import type { RawServer } from './fixtures/raw-server.ts';
import { startRawServer, toolNamed } from './fixtures/raw-server.ts';
import type { Replicas } from './fixtures/replicas.ts';
import { startReplicas } from './fixtures/replicas.ts';
import type { TaskServer } from './fixtures/task-server.ts';
import { startTaskServer } from './fixtures/task-server.ts';

const generations = [
  ['2025', 'legacy'],
  ['2026', 'auto'],
] as const;

const operatorToken = 'the-token-of-the-operator';

const connect = async (
  url: string,
  path: string,
  mode: 'legacy' | 'auto',
  headers: Record<string, string> = {},
): Promise<Client> => {
  const client = new Client(
    { name: 'desk', version: '1' },
    { versionNegotiation: { mode }, capabilities: { elicitation: { form: {} } } },
  );
  client.setRequestHandler('elicitation/create', async () => ({ action: 'accept', content: { seats: 7 } }));
  await client.connect(new StreamableHTTPClientTransport(new URL(path, url), { requestInit: { headers } }));
  return client;
};

const call = async (client: Client, name: string, args: Record<string, unknown> = {}): Promise<string> => {
  const { content } = await client.callTool({ name, arguments: args });
  return content.map((part) => (part.type === 'text' ? part.text : part.type)).join('\n');
};

/** The typed tools in the client's list. */
const typed = async (client: Client): Promise<string[]> =>
  (await client.listTools()).tools.map(({ name }) => name).filter((name) => name.includes('__'));

/** A server with more tools than anybody lists at once, one of which says a lot. */
const startBilling = (): Promise<RawServer> =>
  startRawServer({
    'tools/list': () => ({
      tools: [
        ...Array.from({ length: 60 }, (_, at) => toolNamed(`other_${at}`)),
        toolNamed('create_invoice', { description: 'Creates an invoice for a customer.' }),
        toolNamed('report'),
      ],
    }),
    'tools/call': ({ params }) => {
      const name = String(params?.['name']);
      return { content: [{ type: 'text', text: name === 'report' ? 'words '.repeat(20_000) : `${name} ran` }] };
    },
  });

describe.skipIf(!hasPostgres)('three gateways on one database', () => {
  const open = new AsyncDisposableStack();
  let database: PostgresServer;
  let modern: ModernServer;
  let asking: AskingServer;
  let tasks: TaskServer;
  let billing: RawServer;
  let model: ModelServer;
  const holding = Promise.withResolvers<void>();
  const research = { calls: [{ name: 'lab__research', args: { topic: 'owls' } }] };
  let replicas: Replicas;

  beforeAll(async () => {
    database = open.use(await startPostgresServer());
    modern = open.use(await startModernServer());
    asking = open.use(await startAskingServer());
    tasks = open.use(await startTaskServer());
    billing = open.use(await startBilling());
    model = open.use(
      await startModel(({ body }) => {
        const said = JSON.stringify(body);
        if (body['stream'] !== true) return { text: 'A server.' };
        if (said.includes('rather this'))
          return { text: `Both: ${said.includes('hold on') ? 'hold on, ' : ''}rather this` };
        if (!said.includes('hold on')) return /t_[0-9a-f]{32}/.test(said) ? { text: 'It runs.' } : research;
        holding.resolve();
        return { text: 'Never said to its end', hold: new Promise(() => {}) };
      }),
    );
    replicas = open.use(
      await startReplicas({
        storeUrl: await database.createDatabase(),
        count: 3,
        config: {
          mcp: { taskPollMinMs: 50 },
          models: { balanced: { endpoint: model.endpoint, modelId: 'scripted' } },
          serve: { expose: ['*'] },
        },
        servers: {
          modern: { id: 'aaaaaaaaaaa1', url: modern.url },
          asking: { id: 'aaaaaaaaaaa2', url: asking.url },
          lab: { id: 'aaaaaaaaaaa3', url: tasks.url, tasks: true },
          billing: { id: 'aaaaaaaaaaa4', url: billing.url },
        },
      }),
    );
  }, 120_000);
  afterAll(() => open.disposeAsync());

  describe.each(generations)('a client of %s', (_, mode) => {
    it('is served by whichever its request reaches', async () => {
      const before = [...replicas.served];
      const client = await connect(replicas.url, '/mcp', mode);
      for (let round = 0; round < 6; round += 1)
        expect(await call(client, 'modern__echo', { text: `round ${round}` })).toBe(`round ${round}`);
      await client.close();
      for (const [index, count] of replicas.served.entries()) expect(count).toBeGreaterThan(before[index] ?? 0);
    });

    it('is passed through to one server by whichever its request reaches', async () => {
      const client = await connect(replicas.url, '/mcp/modern', mode);
      for (let round = 0; round < 6; round += 1)
        expect(await call(client, 'echo', { text: `round ${round}` })).toBe(`round ${round}`);
      await client.close();
    });

    it('reads everywhere what was kept of a long result', async () => {
      const client = await connect(replicas.url, '/mcp', mode);
      const table = await call(client, 'billing__report');
      const keys = [...table.matchAll(/`([^`]+-chunk\d+)`/g)].map(([, key]) => key ?? '');
      expect(keys.length).toBeGreaterThan(1);
      for (const key of [...keys, ...keys]) {
        const text = await call(client, 'get_from_working_memory', { key });
        expect(text).toContain('words');
      }
      await client.close();
    });
  });

  it('answer a server with what its client says, wherever the call goes on', async () => {
    const client = await connect(replicas.url, '/mcp/asking', 'auto');
    for (const show of ['Lear', 'Faust', 'Nora', 'Medea'])
      expect(await call(client, 'book', { show })).toBe(`booked 7 for ${show}`);
    await client.close();
  });

  it('list a question that was parked on one, and let another answer it', async () => {
    const [first, second, third] = replicas.gateways;
    const parked = await first?.post('/tools/asking__book/call', { arguments: { show: 'Lear' } });
    expect(parked).toMatchObject({ status: 'parked', handle: { kind: 'question' } });
    const { id } = (parked as { handle: { id: string } }).handle;
    for (const gateway of replicas.gateways)
      expect(await gateway.get('/questions')).toMatchObject({ questions: [{ id, server: 'asking', tool: 'book' }] });
    const answers = { answers: { seats: 2 } };
    expect(await second?.post(`/questions/${id}/answer`, answers)).toMatchObject({
      status: 'done',
      content: expect.stringContaining('booked 2 for Lear') as string,
    });
    expect(await third?.post(`/questions/${id}/answer`, answers)).toMatchObject({
      error: { code: 'invalid_arguments', message: expect.stringContaining('already answered') as string },
    });
    expect(asking.done.filter((line) => line === 'booked 2 for Lear')).toHaveLength(1);
  });

  it('let the command line answer on the same store', async () => {
    const parked = await replicas.gateways[0]?.post('/tools/asking__book/call', { arguments: { show: 'Hamlet' } });
    const { id } = (parked as { handle: { id: string } }).handle;
    const answered = await replicas.run(['questions', 'answer', id, '--answers', '{"seats":3}']);
    expect([answered.code, answered.stdout]).toEqual([0, expect.stringContaining('booked 3 for Hamlet')]);
    expect(await replicas.gateways[1]?.get('/questions')).toEqual({ questions: [] });
  });

  it('show a background task of one everywhere, and another cancels it', async () => {
    const [first, second, third] = replicas.gateways;
    const reply = await first?.post('/sessions/tasks-1/messages', { message: 'research owls' });
    expect(reply).toMatchObject({ reply: 'It runs.' });
    const shown = (await second?.get('/tasks')) as { tasks: { id: string; server: string }[] };
    expect(shown.tasks).toMatchObject([{ server: 'lab' }]);
    const id = shown.tasks[0]?.id ?? '';
    await tasks.until('tasks/get', 2);
    expect(await third?.post(`/tasks/${id}/cancel`)).toMatchObject({
      message: expect.stringContaining('is cancelled') as string,
    });
    expect(tasks.cancelled).toEqual([tasks.tasks[0]?.taskId]);
    expect(await first?.get('/tasks')).toEqual({ tasks: [] });
  });

  it('run a scheduled task once, whoever of them does it', async () => {
    const before = billing.count('tools/call');
    const added = await replicas.gateways[0]?.post('/schedule', {
      name: 'invoice',
      at: new Date(Date.now() + 1_500).toISOString(),
      tool: 'billing__create_invoice',
      arguments: {},
    });
    expect(added).toMatchObject({ task: { name: 'invoice' } });
    await billing.until('tools/call', before + 1);
    await expect
      .poll(() => replicas.gateways[2]?.get('/schedule/invoice'), { timeout: 10_000 })
      .toMatchObject({ task: null, history: [{ status: 'done' }] });
    expect(billing.count('tools/call')).toBe(before + 1);
  }, 30_000);

  it('tell at each what happens in a session at another', async () => {
    const [first, second] = replicas.gateways;
    const leaving = new AbortController();
    const listening = await fetch(`${first?.url}/api/v1/sessions/heard/events`, {
      headers: { accept: 'text/event-stream' },
      signal: leaving.signal,
    });
    let heard = '';
    const reading = (async () => {
      const decoder = new TextDecoder();
      for await (const piece of listening.body ?? []) heard += decoder.decode(piece, { stream: true });
    })().catch(() => undefined);
    await expect
      .poll(
        async () => {
          await second?.post('/sessions/heard/messages', { message: 'rather this' });
          return heard;
        },
        { timeout: 20_000, interval: 500 },
      )
      .toMatch(/turn-start[^]*Both: rather this[^]*turn-end/);
    leaving.abort();
    await reading;
  }, 30_000);

  it('answer one message at a time in a session, together with one that overtakes it', async () => {
    const [first, second] = replicas.gateways;
    const overtaken = first?.post('/sessions/talk/messages', { message: 'hold on' });
    await holding.promise;
    expect(await second?.post('/sessions/talk/messages', { message: 'rather this' })).toMatchObject({
      status: 'done',
      reply: 'Both: hold on, rather this',
    });
    expect(await overtaken).toMatchObject({ status: 'superseded', reply: '' });
  }, 30_000);
});

describe.skipIf(!hasPostgres)('gateways on one database that ask for tokens', () => {
  const open = new AsyncDisposableStack();
  let billing: RawServer;
  let replicas: Replicas;
  beforeAll(async () => {
    const database = open.use(await startPostgresServer());
    billing = open.use(await startBilling());
    replicas = open.use(
      await startReplicas({
        storeUrl: await database.createDatabase(),
        count: 3,
        token: operatorToken,
        // Without an id: one is given to it, and written back.
        servers: { billing: { url: billing.url } },
      }),
    );
  }, 120_000);
  afterAll(() => open.disposeAsync());

  const statusAt = async ({ url }: { readonly url: string }, token: string): Promise<number> => {
    const response = await fetch(`${url}/api/v1/servers`, { headers: { authorization: `Bearer ${token}` } });
    await response.body?.cancel();
    return response.status;
  };
  const makeToken = async (name: string, scope = 'mcp'): Promise<string> => {
    const made = await replicas.run(['tokens', 'create', name, '--scope', scope]);
    expect(made.code).toBe(0);
    return made.stdout.trim();
  };

  it('agree on the id of a server that had none when all of them started', async () => {
    const ids = await Promise.all(
      replicas.gateways.map(async (gateway) => {
        const { servers } = (await gateway.get('/servers')) as { servers: { name: string; id: string }[] };
        return servers.map(({ name, id }) => `${name} ${id}`).join();
      }),
    );
    expect(ids[0]).toMatch(/^billing [0-9a-f]{12}$/);
    expect(new Set(ids).size).toBe(1);
  });

  it('take a token that was just made beside them, and refuse it soon after it was revoked', async () => {
    // Whoever was asked before knows which tokens there were.
    for (const gateway of replicas.gateways) expect(await statusAt(gateway, 'gty_unknown')).toBe(401);
    const token = await makeToken('dashboard', 'read');
    for (const gateway of replicas.gateways) expect(await statusAt(gateway, token)).toBe(200);
    expect((await replicas.run(['tokens', 'revoke', 'dashboard'])).code).toBe(0);
    for (const gateway of replicas.gateways)
      await expect.poll(() => statusAt(gateway, token), { timeout: 10_000, interval: 200 }).toBe(401);
  }, 30_000);

  it.each(generations)('keep the tools that a client of %s found, wherever it asks next', async (year, mode) => {
    const token = await makeToken(`desk-${year}`);
    const client = await connect(replicas.url, '/mcp', mode, { authorization: `Bearer ${token}` });
    expect(await typed(client)).toEqual([]);
    const found = await call(client, 'mcp_find_tools', { query: 'create an invoice for a customer', limit: 1 });
    expect(JSON.parse(found)).toMatchObject({ tools: [{ name: 'billing__create_invoice', activated: true }] });
    for (let round = 0; round < 3; round += 1) expect(await typed(client)).toEqual(['billing__create_invoice']);
    await client.close();
  });

  it('serve their clients on when one of them is killed', async () => {
    await using own = await startReplicas({
      storeUrl: replicas.storeUrl,
      count: 2,
      token: operatorToken,
      servers: { billing: { id: 'aaaaaaaaaaa4', url: billing.url } },
    });
    const headers = { authorization: `Bearer ${operatorToken}` };
    const older = await connect(own.url, '/mcp', 'legacy', headers);
    const newer = await connect(own.url, '/mcp', 'auto', headers);
    for (const client of [older, newer]) expect(await call(client, 'billing__other_1')).toBe('other_1 ran');
    await own.gateways[0]?.kill();
    for (const client of [older, newer, older, newer])
      expect(await call(client, 'billing__other_2')).toBe('other_2 ran');
    for (const client of [older, newer]) await client.close();
  }, 60_000);

  it('take over what one that was killed looked after: schedules, each run once, and background tasks', async () => {
    const database = open.use(await startPostgresServer());
    const tasks = open.use(await startTaskServer());
    const model = open.use(
      await startModel(({ body }) =>
        /t_[0-9a-f]{32}/.test(JSON.stringify(body)) || body['stream'] !== true
          ? { text: 'Noted.' }
          : { calls: [{ name: 'lab__research', args: { topic: 'owls' } }] },
      ),
    );
    const options = {
      storeUrl: await database.createDatabase(),
      count: 1,
      config: { mcp: { taskPollMinMs: 50 }, models: { balanced: { endpoint: model.endpoint, modelId: 'scripted' } } },
      servers: {
        lab: { id: 'aaaaaaaaaaa3', url: tasks.url, tasks: true },
        billing: { id: 'aaaaaaaaaaa4', url: billing.url },
      },
    };
    // The first alone owns everything.
    await using first = await startReplicas(options);
    const [owner] = first.gateways;
    await owner?.post('/sessions/night/messages', { message: 'research owls' });
    await tasks.until('tasks/get', 2);
    await using second = await startReplicas({ ...options, count: 2 });
    const before = billing.count('tools/call');
    await owner?.post('/schedule', {
      name: 'invoice',
      at: new Date(Date.now() + 2_000).toISOString(),
      tool: 'billing__create_invoice',
      arguments: {},
    });
    await owner?.kill();
    tasks.complete(0, 'Owls sleep by day.');
    const [heir] = second.gateways;
    const turns = { timeout: 60_000, interval: 500 };
    await expect
      .poll(async () => JSON.stringify(await heir?.get('/sessions/night')), turns)
      .toContain('Owls sleep by day.');
    await expect
      .poll(() => heir?.get('/schedule/invoice'), turns)
      .toMatchObject({
        task: null,
        history: [{ status: 'done' }],
      });
    expect(billing.count('tools/call')).toBe(before + 1);
  }, 120_000);
});
