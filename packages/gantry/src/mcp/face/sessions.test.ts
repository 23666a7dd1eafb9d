import { Server } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { silentLog } from '../../kernel/log.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import type { SessionsOptions } from './sessions.ts';
import { createSessions } from './sessions.ts';

const minuteMs = 60_000;
const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } },
};
const ping = { jsonrpc: '2.0', id: 2, method: 'ping' };

const open = (options: Partial<SessionsOptions> = {}) => {
  const clock = fakeClock();
  const closed: Server[] = [];
  const sessions = createSessions({
    open: () => {
      const server = new Server({ name: 's', version: '1' }, { capabilities: { tools: {} } });
      server.onclose = () => closed.push(server);
      return server;
    },
    lane: { inSession: () => undefined },
    clock,
    log: silentLog,
    ...options,
  });
  const send = async (method: string, body: unknown, id?: string, client?: string, signal?: AbortSignal) => {
    const request = new Request('http://localhost/mcp', {
      method,
      headers: { ...headers, ...(id !== undefined && { 'mcp-session-id': id }) },
      ...(signal && { signal }),
    });
    return sessions.handle(request, body, { client, mode: 'auto' });
  };
  const start = async (client?: string): Promise<string> => {
    const response = await send('POST', initialize, undefined, client);
    await response?.text();
    return response?.headers.get('mcp-session-id') ?? '';
  };
  const status = async (id: string, client?: string): Promise<number | undefined> =>
    (await send('POST', ping, id, client))?.status;
  return { sessions, clock, send, start, status, closed };
};

describe('createSessions', () => {
  it('opens a session at initialize and serves requests that name it', async () => {
    const { start, status, sessions } = open();
    const id = await start();
    expect(id).toMatch(/^[0-9a-f]{32}$/);
    expect(await status(id)).toBe(200);
    expect(sessions.size).toBe(1);
  });

  it('leaves a request alone that neither names nor opens a session', async () => {
    const { send } = open();
    expect(await send('POST', ping)).toBeUndefined();
    expect(await send('GET', undefined)).toBeUndefined();
  });

  it("does not know a session to another identity than its owner's", async () => {
    const { start, status } = open();
    const id = await start('alice');
    expect(await status(id, 'bob')).toBe(404);
    expect(await status(id)).toBe(404);
    expect(await status(id, 'alice')).toBe(200);
  });

  it('drops a session that nobody used for so long', async () => {
    const { start, status, clock, sessions, closed } = open({ idleMs: 10 * minuteMs });
    const idle = await start();
    const used = await start();
    await clock.advance(9 * minuteMs);
    expect(await status(used)).toBe(200);
    await clock.advance(minuteMs);
    expect(await status(idle)).toBe(404);
    expect(await status(used)).toBe(200);
    expect(closed).toHaveLength(1);
    await clock.advance(11 * minuteMs);
    expect(sessions.size).toBe(0);
    expect(clock.pendingTimers).toBe(0);
  });

  it('keeps a session whose client waits for notices, and counts from when it stops', async () => {
    const { start, status, send, clock } = open({ idleMs: 10 * minuteMs });
    const id = await start();
    const gone = new AbortController();
    expect((await send('GET', undefined, id, undefined, gone.signal))?.status).toBe(200);
    await clock.advance(60 * minuteMs);
    gone.abort();
    await clock.advance(9 * minuteMs);
    expect(await status(id)).toBe(200);
    await clock.advance(11 * minuteMs);
    expect(await status(id)).toBe(404);
  });

  it('makes room for a new session with the one that was used the longest ago and does not listen', async () => {
    const { start, status, send } = open({ maxSessions: 3 });
    const listens = await start();
    const unused = await start();
    const used = await start();
    await send('GET', undefined, listens);
    await status(unused);
    await status(used);
    const newest = await start();
    expect(await Promise.all([listens, unused, used, newest].map((id) => status(id)))).toEqual([200, 404, 200, 200]);
  });

  it('forgets a session that its client ends', async () => {
    const { start, status, send, sessions, closed } = open();
    const id = await start();
    expect((await send('DELETE', undefined, id))?.status).toBe(200);
    expect(await status(id)).toBe(404);
    expect([sessions.size, closed.length]).toEqual([0, 1]);
  });

  it('closes what is open when disposed', async () => {
    const { start, sessions, closed, clock } = open();
    await start();
    await start();
    await sessions[Symbol.asyncDispose]();
    expect([closed.length, clock.pendingTimers]).toEqual([2, 0]);
  });
});
