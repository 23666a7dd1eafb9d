import type { Server } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { orAborted } from '../../../../kernel/abort.ts';
import { GantryError } from '../../../../kernel/errors.ts';
import type { JsonObject } from '../../../../kernel/json.ts';
import { silentLog } from '../../../../kernel/log.ts';
import { fakeClock } from '../../../../testing/fake-clock.ts';
import type { AskOptions } from '../relay-to-newer.ts';
import type { Relayed } from '../relayed.ts';
import type { KeptResults } from './kept-results.ts';
import { createTasksAtNewer } from './tasks-at-newer.ts';

const task = { resultType: 'task', taskId: 't1', status: 'working', ttlMs: null, pollIntervalMs: 5_000 };
const missing = (code: number, extension: string): GantryError =>
  new GantryError('execution_failed', 'Missing', {
    details: { rpc: { code, message: 'Missing', data: { requiredCapabilities: { extensions: { [extension]: {} } } } } },
  });

/** A server of 2026 that is a function, and a client of 2025 that can be asked nothing. */
const make = (serve: (method: string, options: AskOptions) => Promise<JsonObject>) => {
  const clock = fakeClock();
  const gone = new AbortController();
  const seen: [method: string, knowsTasks: boolean][] = [];
  const kept = { isKept: () => false } as unknown as KeptResults;
  const relay = createTasksAtNewer({ kept, clock, log: silentLog });
  const ask = async ({ method }: Relayed, options: AskOptions = {}): Promise<JsonObject> => {
    seen.push([method, options.knowsTasks === true]);
    return await serve(method, options);
  };
  const server = { getClientCapabilities: () => ({}) } as unknown as Server;
  const request = (method: string, params: JsonObject): Promise<JsonObject> =>
    relay(
      {
        method,
        params,
        target: { name: 's', maxCallTimeoutMs: 60_000 },
        ctx: { mcpReq: { signal: gone.signal } },
      } as unknown as Relayed,
      { server, ask },
    );
  const count = (method: string): number => seen.filter(([one]) => one === method).length;
  return { clock, gone, seen, count, request };
};

describe('a client of 2025 that waits for a task of a server of 2026', () => {
  it('has it asked for as often as the server says, and no more when the client has gone', async () => {
    const { clock, gone, count, request } = make(async () => task);
    const waiting = request('tasks/result', { taskId: 't1' });
    await clock.advance(10_100);
    expect(count('tasks/get')).toBe(3);
    gone.abort();
    await expect(waiting).rejects.toThrow();
    await clock.advance(60_000);
    expect([count('tasks/get'), count('tasks/cancel'), clock.pendingTimers]).toEqual([3, 0, 0]);
  });

  it('is told after the longest time of a call that the task goes on', async () => {
    const { clock, count, request } = make(async () => task);
    const waiting = request('tasks/result', { taskId: 't1' });
    waiting.catch(() => undefined);
    await clock.advance(60_000);
    await expect(waiting).rejects.toThrow(/60000 ms.*It goes on; ask for its result again/);
    expect([count('tasks/cancel'), clock.pendingTimers]).toEqual([0, 0]);
  });
});

describe('a call whose client of 2025 goes before the server of 2026 answers it with a task', () => {
  it.each([
    ['wants a task', { name: 'dig', task: {} }],
    ['wants none of a tool that runs as one only', { name: 'dig' }],
  ])('has that cancelled, where it %s', async (_what, params) => {
    const made = Promise.withResolvers<JsonObject>();
    const { clock, gone, count, request } = make(async (method, { knowsTasks, signal }) => {
      if (method !== 'tools/call') return {};
      if (!knowsTasks) throw missing(-32_021, 'io.modelcontextprotocol/tasks');
      return await orAborted(made.promise, signal ?? gone.signal);
    });
    const called = request('tools/call', params);
    called.catch(() => undefined);
    await clock.advance(1);
    gone.abort();
    await clock.advance(1_000);
    made.resolve(task);
    await expect(called).rejects.toThrow();
    await clock.advance(60_000);
    expect([count('tasks/cancel'), clock.pendingTimers]).toEqual([1, 0]);
  });

  it('is given up where the server does not answer soon', async () => {
    const { clock, gone, count, request } = make((_method, { signal }) =>
      orAborted(new Promise<never>(() => {}), signal ?? gone.signal),
    );
    const called = request('tools/call', { name: 'dig', task: {} });
    called.catch(() => undefined);
    gone.abort();
    await clock.advance(3_000);
    await expect(called).rejects.toThrow();
    expect([count('tasks/cancel'), clock.pendingTimers]).toEqual([0, 0]);
  });
});

describe('a call of a tool that a server of 2026 runs as a task only', () => {
  it.each([
    [-32_021, 'io.modelcontextprotocol/tasks', true],
    [-32_003, 'io.modelcontextprotocol/tasks', true],
    [-32_021, 'example.com/other', false],
    [-32_602, 'io.modelcontextprotocol/tasks', false],
  ])('is made again when the error %i wants %s: %s', async (code, extension, isFollowed) => {
    const { seen, request } = make(async (method, { knowsTasks }) => {
      if (method === 'tools/call' && !knowsTasks) throw missing(code, extension);
      return { ...task, status: 'completed', result: { resultType: 'complete', content: [] } };
    });
    const called = request('tools/call', { name: 'dig' });
    if (isFollowed) expect(await called).toEqual({ content: [] });
    else await expect(called).rejects.toThrow('Missing');
    expect(seen).toHaveLength(isFollowed ? 2 : 1);
  });

  it.each(['its client has gone', 'it took too long'])('has its task cancelled when %s', async (what) => {
    const { clock, gone, count, request } = make(async (method, { knowsTasks }) => {
      if (method === 'tools/call' && !knowsTasks) throw missing(-32_021, 'io.modelcontextprotocol/tasks');
      return task;
    });
    const called = request('tools/call', { name: 'dig' });
    called.catch(() => undefined);
    await clock.advance(10_100);
    if (what === 'its client has gone') gone.abort();
    await clock.advance(60_000);
    await expect(called).rejects.toThrow();
    expect([count('tasks/cancel'), clock.pendingTimers]).toEqual([1, 0]);
  });
});
