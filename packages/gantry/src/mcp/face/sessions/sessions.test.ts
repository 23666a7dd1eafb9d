import { Server } from '@modelcontextprotocol/server';
import { afterEach, describe, expect, it } from 'vitest';
import { silentLog } from '../../../kernel/log.ts';
import type { Store } from '../../../store/store.ts';
import { openSqliteStore } from '../../../store/sqlite/open-sqlite-store.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { testKeyring } from '../../../testing/test-keyring.ts';
import { createMailbox } from '../mail/mailbox.ts';
import type { SessionsOptions, SharedSessions } from './sessions.ts';
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

const open = (options: Partial<SessionsOptions> = {}, clock = fakeClock()) => {
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

  it('keeps of the message that opens it what the protocol has, and refuses more than 16 KB of that', async () => {
    const opened: unknown[] = [];
    const { send } = open({
      open: (_visitor, _request, params) => {
        opened.push(params);
        return new Server({ name: 's', version: '1' }, { capabilities: { tools: {} } });
      },
    });
    const hello = (capabilities: object, clientInfo: object = {}) => ({
      ...initialize,
      params: { ...initialize.params, capabilities, clientInfo: { name: 'c', version: '1', ...clientInfo } },
    });
    const fat = 'x'.repeat(100_000);
    expect((await send('POST', hello({ fat: { fat }, roots: {} })))?.status).toBe(200);
    expect(opened).toEqual([
      { protocolVersion: '2025-11-25', capabilities: { roots: {} }, clientInfo: { name: 'c', version: '1' } },
    ]);
    for (const refused of [hello({ experimental: { fat: { fat } } }), hello({}, { name: fat })]) {
      const response = await send('POST', refused);
      expect([response?.status, await response?.text()]).toEqual([400, expect.stringContaining('16384 characters')]);
    }
    expect(opened).toHaveLength(1);
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

  it('breaks off the stream of notices of a client that does not read, which may open another', async () => {
    let server: Server | undefined;
    const { start, send } = open({
      open: () => (server = new Server({ name: 's', version: '1' }, { capabilities: { logging: {} } })),
    });
    const id = await start();
    const stream = await send('GET', undefined, id);
    for (let sent = 0; sent < 10; sent += 1)
      await server?.sendLoggingMessage({ level: 'info', data: 'x'.repeat(1024 * 1024) });
    await expect(stream?.text()).rejects.toMatchObject({ code: 'limit_reached' });
    expect((await send('GET', undefined, id))?.status).toBe(200);
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

describe('sessions of several processes on one store', () => {
  let store: Store;
  afterEach(() => store[Symbol.asyncDispose]());

  const two = async (make?: SessionsOptions['open']) => {
    const clock = fakeClock();
    store = await openSqliteStore({ path: ':memory:', clock, keyring: testKeyring('k1'), log: silentLog });
    const { secrets: sealing } = store;
    const letters = store.keyValue<string>('letters');
    let looks = 0;
    const counted: typeof letters = {
      ...letters,
      list: (under) => {
        looks += 1;
        return letters.list(under);
      },
    };
    const options = (): Partial<SessionsOptions> => {
      const shared: SharedSessions = {
        sealing,
        ended: store.keyValue('ended'),
        mailbox: createMailbox({ sealing, letters: counted, clock, log: silentLog }),
      };
      return { shared, ...(make && { open: make }) };
    };
    return { clock, here: open(options(), clock), there: open(options(), clock), looks: () => looks };
  };

  it('are served by one that did not open them', async () => {
    const { here, there } = await two();
    const id = await here.start('alice');
    expect([here.sessions.size, there.sessions.size]).toEqual([1, 0]);
    expect(await Promise.all([there.status(id, 'alice'), there.status(id, 'alice')])).toEqual([200, 200]);
    expect([await here.status(id, 'alice'), there.sessions.size]).toEqual([200, 1]);
  });

  it('know what the client said when it opened them', async () => {
    const servers: Server[] = [];
    const { here, there } = await two(() => {
      const server = new Server({ name: 's', version: '1' }, { capabilities: { tools: {} } });
      servers.push(server);
      return server;
    });
    await there.status(await here.start());
    expect(servers[1]?.getClientVersion()).toEqual({ name: 'c', version: '1' });
  });

  it('are nothing to another client, nor with an id that was changed', async () => {
    const { here, there } = await two();
    const id = await here.start('alice');
    expect(await there.status(id, 'bob')).toBe(404);
    expect(await there.status(`${id.slice(0, 30)}AAAA${id.slice(34)}`, 'alice')).toBe(404);
    expect(await there.status('~nothing', 'alice')).toBe(404);
  });

  it('are over everywhere when their client has ended them, and after a week', async () => {
    const { here, there, clock } = await two();
    const ended = await here.start();
    const old = await here.start();
    expect((await here.send('DELETE', undefined, ended))?.status).toBe(200);
    expect([await here.status(ended), await there.status(ended)]).toEqual([404, 404]);
    await clock.advance(7 * 24 * 60 * minuteMs);
    expect(await there.status(old)).toBe(404);
  });

  it('outlive the process that opened them', async () => {
    const { here, there } = await two();
    const id = await here.start();
    await here.sessions[Symbol.asyncDispose]();
    expect(await there.status(id)).toBe(200);
  });

  it('bring the answer of a client to the process that asked, wherever it arrives', async () => {
    const servers: Server[] = [];
    const { here, there, clock } = await two(() => {
      const server = new Server({ name: 's', version: '1' }, { capabilities: { tools: {} } });
      servers.push(server);
      return server;
    });
    const id = await here.start();
    await there.status(id);
    const stream = (await here.send('GET', undefined, id))?.body?.getReader();
    await there.send('GET', undefined, id);
    const roots = servers[0]?.listRoots();
    // Asked by both at once, each under the same number of its own.
    const others = servers[1]?.listRoots();
    const event = new TextDecoder().decode((await stream?.read())?.value);
    const asked = JSON.parse(/^data: (.*)$/m.exec(event)?.[1] ?? '{}') as { id: string };
    const answer = { jsonrpc: '2.0', id: asked.id, result: { roots: [{ uri: 'file:///here' }] } };
    expect((await there.send('POST', answer, id))?.status).toBe(202);
    await clock.advance(300);
    expect(await roots).toEqual({ roots: [{ uri: 'file:///here' }] });
    expect(await Promise.race([others, Promise.resolve('still open')])).toBe('still open');
    others?.catch(() => undefined);
    await Promise.all([here.sessions[Symbol.asyncDispose](), there.sessions[Symbol.asyncDispose]()]);
  });

  describe('with a call that runs', () => {
    const call = (id: number, name = 'wait') => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name } });
    const running = async () => {
      const started: AbortSignal[] = [];
      const both = await two(() => {
        const server = new Server({ name: 's', version: '1' }, { capabilities: { tools: {} } });
        server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
          if (params.name !== 'wait') return { content: [{ type: 'text', text: params.name }] };
          started.push(mcpReq.signal);
          await new Promise((resolve) => mcpReq.signal.addEventListener('abort', resolve, { once: true }));
          return { content: [] };
        });
        return server;
      });
      const id = await both.here.start();
      const answer = await both.here.send('POST', call(7), id);
      await both.clock.advance(0);
      expect(started).toHaveLength(1);
      const close = async (): Promise<void> => {
        for (const { sessions } of [both.here, both.there]) await sessions[Symbol.asyncDispose]();
      };
      return { ...both, id, started, answer, [Symbol.asyncDispose]: close };
    };
    const cancel = (requestId: number) => ({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId },
    });

    it('cancel it wherever the client says so', async () => {
      await using parts = await running();
      const { there, clock, id, started } = parts;
      await clock.advance(500);
      await there.send('POST', cancel(8), id);
      await clock.advance(500);
      expect(started[0]?.aborted).toBe(false);
      expect((await there.send('POST', cancel(7), id))?.status).toBe(202);
      await clock.advance(500);
      expect(started[0]?.aborted).toBe(true);
    });

    it('end the stream of one that is cancelled, here or elsewhere, on which no answer will come', async () => {
      await using parts = await running();
      const { here, there, clock, id, answer } = parts;
      await clock.advance(500);
      const second = await here.send('POST', call(8), id);
      await here.send('POST', cancel(8), id);
      expect(await second?.text()).toBe('');
      await there.send('POST', cancel(7), id);
      await clock.advance(500);
      expect(await answer?.text()).toBe('');
    });

    it('leave the stream of several in one body open until the last of them is cancelled', async () => {
      await using parts = await running();
      const { here, clock, id } = parts;
      const reader = (await here.send('POST', [call(8), call(9)], id))?.body?.getReader();
      const ended = reader?.closed.then(() => 'ended');
      await here.send('POST', cancel(8), id);
      await clock.advance(0);
      expect(await Promise.race([ended, Promise.resolve('open')])).toBe('open');
      await here.send('POST', cancel(9), id);
      expect(await ended).toBe('ended');
    });

    it('cancel one that has just begun, as soon as it is a long one', async () => {
      await using parts = await running();
      const { there, clock, id, started } = parts;
      await there.send('POST', cancel(7), id);
      await clock.advance(1_000);
      expect(started[0]?.aborted).toBe(true);
    });

    it('cancel it when the session is ended elsewhere, and are over there too', async () => {
      await using parts = await running();
      const { here, there, clock, id, started } = parts;
      await clock.advance(500);
      expect((await there.send('DELETE', undefined, id))?.status).toBe(200);
      await clock.advance(500);
      expect([started[0]?.aborted, here.sessions.size, await here.status(id)]).toEqual([true, 0, 404]);
    });

    it('leave the calls of other sessions alone', async () => {
      await using parts = await running();
      const { here, there, clock, started } = parts;
      const other = await here.start();
      await clock.advance(500);
      await there.send('POST', cancel(7), other);
      await there.send('DELETE', undefined, other);
      await clock.advance(1_000);
      expect(started[0]?.aborted).toBe(false);
    });

    it('look for nothing in the store once no call runs, and not for a short one', async () => {
      await using parts = await running();
      const { here, clock, id, looks } = parts;
      await clock.advance(500);
      expect(looks()).toBeGreaterThan(0);
      await here.send('POST', cancel(7), id);
      await clock.advance(500);
      const before = looks();
      for (let count = 0; count < 20; count += 1) {
        await (await here.send('POST', call(count, 'fast'), id))?.text();
        await clock.advance(50);
      }
      expect(looks()).toBe(before);
    });

    it('refuse a second one with the same id, and answer both under ids of their own', async () => {
      await using parts = await running();
      const { here, id } = parts;
      const second = await here.send('POST', call(7, 'fast'), id);
      expect(second?.status).toBe(400);
      expect(await second?.json()).toMatchObject({
        id: 7,
        error: { code: -32_600, message: expect.stringContaining('The id 7 is in use') as string },
      });
      expect(await (await here.send('POST', call(9, 'fast'), id))?.text()).toContain('"id":9');
      await here.send('POST', cancel(7), id);
      expect(await (await here.send('POST', call(7, 'fast'), id))?.text()).toContain('"id":7');
    });

    it('refuse several in one body with the same id', async () => {
      await using parts = await running();
      const { here, id } = parts;
      const refused = await here.send('POST', [call(1, 'fast'), call(1, 'fast')], id);
      expect(await refused?.json()).toMatchObject({ id: 1, error: { code: -32_600 } });
    });
  });
});
