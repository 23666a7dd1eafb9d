import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RawAnswer } from './fixtures/newer-request.ts';
import { sendNewer } from './fixtures/newer-request.ts';
import { hasPostgres, startPostgresServer } from './fixtures/postgres-server.ts';
import type { Replicas } from './fixtures/replicas.ts';
import { startReplicas } from './fixtures/replicas.ts';
import type { TaskServer } from './fixtures/task-server.ts';
import { startTaskServer } from './fixtures/task-server.ts';

const limit = 12;

describe.skipIf(!hasPostgres)('clients of three gateways on one database', () => {
  const open = new AsyncDisposableStack();
  let tasks: TaskServer;
  let replicas: Replicas;
  const tokens = new Map<string, string>();
  beforeAll(async () => {
    const database = open.use(await startPostgresServer());
    tasks = open.use(await startTaskServer());
    replicas = open.use(
      await startReplicas({
        storeUrl: await database.createDatabase(),
        count: 3,
        token: 'the-token-of-the-operator',
        config: { serve: { clients: { hasty: { callsPerMinute: limit }, rash: { callsPerMinute: limit } } } },
        servers: { lab: { id: 'aaaaaaaaaaa3', url: tasks.url } },
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
  ): Promise<RawAnswer> =>
    sendNewer(new URL('/mcp/lab', base).href, method, params, {
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
