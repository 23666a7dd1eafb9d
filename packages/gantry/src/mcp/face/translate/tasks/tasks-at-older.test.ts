import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GantryError } from '../../../../kernel/errors.ts';
import type { JsonObject } from '../../../../kernel/json.ts';
import { silentLog } from '../../../../kernel/log.ts';
import { openSqliteStore } from '../../../../store/sqlite/open-sqlite-store.ts';
import type { Store } from '../../../../store/store.ts';
import type { FakeClock } from '../../../../testing/fake-clock.ts';
import { fakeClock } from '../../../../testing/fake-clock.ts';
import { testKeyring } from '../../../../testing/test-keyring.ts';
import type { Relayed } from '../relayed.ts';
import type { TasksAtOlder } from './tasks-at-older.ts';
import { createTasksAtOlder } from './tasks-at-older.ts';

const says = { clientInfo: {}, capabilities: {}, logLevel: undefined };
const envelope = {
  'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
};
const unknown = new GantryError('execution_failed', 'Task not found', {
  details: { rpc: { code: -32_602, message: 'Task not found' } },
});

describe('tasks of a server of 2025 for clients of 2026', () => {
  let clock: FakeClock;
  let store: Store;
  let asked: [method: string, params: JsonObject][];
  let known: Set<unknown>;
  let answering: Promise<void> | undefined;
  const open: TasksAtOlder[] = [];
  beforeEach(async () => {
    clock = fakeClock();
    store = await openSqliteStore({ path: ':memory:', clock, keyring: testKeyring('k1'), log: silentLog });
    asked = [];
    known = new Set();
    answering = undefined;
  });
  afterEach(async () => {
    for (const one of open.splice(0)) await one[Symbol.asyncDispose]();
    await store[Symbol.asyncDispose]();
  });
  const start = (): TasksAtOlder => {
    const tasks = createTasksAtOlder({ sealing: store.secrets, clock, log: silentLog });
    open.push(tasks);
    return tasks;
  };
  const link = {
    request: async (method: string, params: JsonObject): Promise<JsonObject> => {
      asked.push([method, params]);
      if (method === 'tools/call') {
        await answering;
        if (params['name'] === 'quick') return { content: ['at once'] };
        known.add('the task of the server');
        return { task: { taskId: 'the task of the server', status: 'working', ttl: null } };
      }
      if (!known.has(params['taskId'])) throw unknown;
      if (method === 'tasks/result') return { content: ['found'] };
      return { taskId: 'the task of the server', status: 'completed', ttl: null };
    },
  };
  const request = (
    tasks: TasksAtOlder,
    method: string,
    params: JsonObject,
    {
      client = 'ann',
      state,
      knows = envelope,
      signal = new AbortController().signal,
    }: { client?: string; state?: string; knows?: object; signal?: AbortSignal } = {},
  ): Promise<JsonObject | undefined> =>
    tasks.relay(
      {
        method,
        params,
        client,
        target: { name: 's', mask: (text: string) => text, needsTask: (tool: string) => tool !== 'plain', link },
        ctx: { mcpReq: { signal, envelope: knows, requestState: () => state } },
      } as unknown as Relayed,
      says,
    );

  it('are made by calls of tools that run as nothing else, for clients that know them', async () => {
    const tasks = start();
    const made = await request(tasks, 'tools/call', { name: 'dig', arguments: {} });
    expect(made).toMatchObject({ resultType: 'task', status: 'working', ttlMs: null });
    expect(asked[0]).toEqual(['tools/call', { name: 'dig', arguments: {}, task: {} }]);
    const before = asked.length;
    expect(await request(tasks, 'tools/call', { name: 'plain' })).toBeUndefined();
    expect(await request(tasks, 'tools/call', { name: 'dig' }, { knows: {} })).toBeUndefined();
    expect(await request(tasks, 'tools/call', { name: 'dig' }, { state: 'gantry.parked.x' })).toBeUndefined();
    expect(await request(tasks, 'tools/list', {})).toBeUndefined();
    expect(asked).toHaveLength(before);
  });

  it('are cancelled when they are made after their client has gone', async () => {
    const answered = Promise.withResolvers<void>();
    answering = answered.promise;
    const gone = new AbortController();
    const called = request(start(), 'tools/call', { name: 'dig' }, { signal: gone.signal });
    called.catch(() => undefined);
    gone.abort();
    await clock.advance(1_000);
    answered.resolve();
    await expect(called).rejects.toThrow();
    expect(asked.map(([method]) => method)).toEqual(['tools/call', 'tasks/cancel']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('are none where the server answers at once', async () => {
    expect(await request(start(), 'tools/call', { name: 'quick' })).toEqual({
      resultType: 'complete',
      content: ['at once'],
    });
  });

  it('have ids that do not say what the server calls them, and are none of another client', async () => {
    const tasks = start();
    const taskId = (await request(tasks, 'tools/call', { name: 'dig' }))?.['taskId'] ?? '';
    expect(taskId).not.toContain('the task of the server');
    expect(await request(tasks, 'tasks/get', { taskId })).toMatchObject({ taskId, result: { content: ['found'] } });
    await expect(request(tasks, 'tasks/get', { taskId }, { client: 'ben' })).rejects.toThrow('Task not found');
  });

  it('are found over the connection of the gateway when the process that held them has ended, if the server has them', async () => {
    const taskId = (await request(start(), 'tools/call', { name: 'dig' }))?.['taskId'] ?? '';
    const other = start();
    expect(await request(other, 'tasks/get', { taskId })).toMatchObject({ taskId, status: 'completed' });
    expect(await request(other, 'tasks/cancel', { taskId })).toEqual({ resultType: 'complete' });
    known.clear();
    await expect(request(start(), 'tasks/get', { taskId })).rejects.toThrow('Task not found');
  });

  it('leave nothing behind when the gateway stops', async () => {
    const tasks = start();
    await request(tasks, 'tools/call', { name: 'dig' });
    await tasks[Symbol.asyncDispose]();
    expect(clock.pendingTimers).toBe(0);
  });

  it('are asked for by their ids', async () => {
    await expect(request(start(), 'tasks/get', {})).rejects.toThrow(/"taskId" must be a text/);
  });
});
