import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema, CreateTaskResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RawAnswer } from './fixtures/newer-request.ts';
import { sendNewer } from './fixtures/newer-request.ts';
import type { OlderTaskServer } from './fixtures/older-task-server.ts';
import { startOlderTaskServer } from './fixtures/older-task-server.ts';
import { hasPostgres, startPostgresServer } from './fixtures/postgres-server.ts';
import type { Replicas } from './fixtures/replicas.ts';
import { startReplicas } from './fixtures/replicas.ts';
import type { TaskServer } from './fixtures/task-server.ts';
import { startTaskServer } from './fixtures/task-server.ts';

type Members = Readonly<Record<string, unknown>>;
const limit = 12;
// What one gateway leaves for another is taken some moments later.
const waits = { timeout: 20_000 };

describe.skipIf(!hasPostgres)('clients of three gateways on one database', () => {
  const open = new AsyncDisposableStack();
  let tasks: TaskServer;
  let older: OlderTaskServer;
  let newer: TaskServer;
  let replicas: Replicas;
  const tokens = new Map<string, string>();
  beforeAll(async () => {
    const database = open.use(await startPostgresServer());
    tasks = open.use(await startTaskServer());
    older = open.use(await startOlderTaskServer());
    newer = open.use(await startTaskServer({ legacy: 'reject' }));
    replicas = open.use(
      await startReplicas({
        storeUrl: await database.createDatabase(),
        count: 3,
        token: 'the-token-of-the-operator',
        config: { serve: { clients: { hasty: { callsPerMinute: limit }, rash: { callsPerMinute: limit } } } },
        servers: {
          lab: { id: 'aaaaaaaaaaa3', url: tasks.url },
          older: { id: 'aaaaaaaaaaa4', url: older.url },
          newer: { id: 'aaaaaaaaaaa5', url: newer.url },
        },
      }),
    );
    for (const name of ['ann', 'ben', 'hasty', 'rash']) {
      const made = await replicas.run(['tokens', 'create', name, '--scope', 'mcp']);
      tokens.set(name, made.stdout.trim());
    }
  }, 120_000);
  afterAll(() => open.disposeAsync());

  const as = (
    name: string,
    method: string,
    params: Readonly<Record<string, unknown>>,
    base = replicas.url,
    server = 'lab',
  ): Promise<RawAnswer> =>
    sendNewer(new URL(`/mcp/${server}`, base).href, method, params, {
      headers: { authorization: `Bearer ${tokens.get(name)}` },
    });

  it('read, answer and cancel tasks of their own calls alone, at every gateway', async () => {
    const made = await as('ann', 'tools/call', { name: 'research', arguments: { topic: 'owls' } });
    expect(made.result).toMatchObject({ resultType: 'task', status: 'working' });
    const taskId = made.result?.['taskId'];
    const refused = { code: -32_602, message: 'Task not found' };
    for (const { url } of replicas.gateways) {
      expect((await as('ann', 'tasks/get', { taskId }, url)).result).toMatchObject({ taskId, status: 'working' });
      for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel'])
        expect((await as('ben', method, { taskId, inputResponses: {} }, url)).error).toEqual(refused);
      expect((await as('ben', 'subscriptions/listen', { notifications: { taskIds: [taskId] } }, url)).error).toEqual(
        refused,
      );
    }
    expect((await as('ann', 'tasks/get', { taskId: 'made up' })).error).toEqual(refused);
    expect(tasks.cancelled).toEqual([]);
    expect((await as('ann', 'tasks/cancel', { taskId })).error).toBeUndefined();
    expect(tasks.cancelled).toEqual([taskId]);
  });

  it('of 2026 read and answer tasks of a server of 2025 at every gateway, whichever holds its session', async () => {
    const [first, second, third] = replicas.gateways.map(({ url }) => url);
    const at = (base: string | undefined, method: string, params: Members): Promise<RawAnswer> =>
      as('ann', method, params, base, 'older');
    const { taskId } = (await at(first, 'tools/call', { name: 'ask', arguments: {} })).result ?? {};
    const state = async (base?: string): Promise<Members> => (await at(base, 'tasks/get', { taskId })).result ?? {};
    const answer = (key: string, base?: string): Promise<RawAnswer> =>
      at(base, 'tasks/update', { taskId, inputResponses: { [key]: { action: 'accept', content: { box: key } } } });
    await expect.poll(() => state(second), waits).toHaveProperty('inputRequests.q1');
    expect((await answer('q1', third)).error).toBeUndefined();
    await expect.poll(() => state(first), waits).toHaveProperty('inputRequests.q2');
    await answer('q2', second);
    await expect.poll(() => state(third), waits).toMatchObject({ taskId, status: 'completed' });
    expect(JSON.stringify(await state(second))).toMatch(/q1.*q2/);
    const refused = { code: -32_602, message: 'Task not found' };
    expect((await as('ben', 'tasks/get', { taskId }, second, 'older')).error).toEqual(refused);
  });

  it('of 2025 find what a server of 2026 answered at once, as a task, at every gateway', async () => {
    const connect = async (base: string | undefined): Promise<OldClient> => {
      const client = new OldClient({ name: 't', version: '1' });
      const headers = { authorization: `Bearer ${tokens.get('ann')}` };
      await client.connect(new OldTransport(new URL('/mcp/newer', base), { requestInit: { headers } }));
      open.defer(() => client.close());
      return client;
    };
    const [first, second] = replicas.gateways.map(({ url }) => url);
    const params = { name: 'quick', arguments: {}, task: {} };
    const { task } = await (await connect(first)).request({ method: 'tools/call', params }, CreateTaskResultSchema);
    const elsewhere = await connect(second);
    expect(await elsewhere.experimental.tasks.getTask(task.taskId)).toMatchObject({ status: 'completed' });
    expect(await elsewhere.experimental.tasks.getTaskResult(task.taskId, CallToolResultSchema)).toMatchObject({
      content: [{ text: 'ran at once' }],
    });
  });

  it('may make so many calls a minute together, whichever gateways these reach', async () => {
    // Limits are of one minute of the clock; where that turned in between, the next client is counted.
    for (const name of ['hasty', 'rash']) {
      const minute = Math.floor(Date.now() / 60_000);
      const calls = Array.from({ length: 3 * limit }, () =>
        as(name, 'tools/call', { name: 'research', arguments: {} }),
      );
      const answers = await Promise.all(calls);
      if (Math.floor(Date.now() / 60_000) !== minute) continue;
      expect(answers.filter(({ result }) => result !== undefined)).toHaveLength(limit);
      expect(answers.find(({ error }) => error)?.error?.message).toContain(`${limit} calls a minute`);
      return;
    }
    throw new Error('The minute turned twice.');
  });
});
