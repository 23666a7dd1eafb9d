import { readFile, rename, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { createEnvelope } from '../packages/gantry/src/bus/envelope.ts';
import { topics } from '../packages/gantry/src/bus/topics.ts';
import { manageMessageTypes } from '../packages/gantry/src/mcp/wire/manage-messages.ts';
import { fakeClock } from '../packages/gantry/src/testing/fake-clock.ts';
import { startBridge } from './fixtures/bridge-harness.ts';
import type { Script } from './fixtures/raw-server.ts';
import { endWith, RpcError, startRawServer, toolNamed, written } from './fixtures/raw-server.ts';

/** A script that waits until it is let go. */
const held = (): { script: Script; letGo: () => void } => {
  const gate = Promise.withResolvers<void>();
  return {
    script: async () => {
      await gate.promise;
      return { content: [{ type: 'text', text: 'finished' }] };
    },
    letGo: gate.resolve,
  };
};

describe('an edit of the file of servers', () => {
  it('connects what is new, ends what is gone, and leaves alone what is as it was', async () => {
    await using one = await startRawServer();
    await using two = await startRawServer();
    await using t = await startBridge({ keep: { url: one.url }, gone: { url: `${one.url}?gone` } });
    await t.bridge.ready();
    const kept = JSON.parse(await readFile(t.configPath, 'utf8')) as { mcpServers: Record<string, unknown> };
    await t.write({ keep: kept.mcpServers['keep'], fresh: { url: two.url } });
    await t.bridge.reload();
    await t.untilState((bridge) => bridge.server('fresh')?.state === 'connected');
    expect(t.bridge.servers().map((server) => server.name)).toEqual(['fresh', 'keep']);
    expect(t.indexed.flatMap((message) => message.removedServers)).toEqual(['gone']);
    expect(one.count('initialize')).toBe(2);
  });

  it('is noticed when the file is replaced by renaming', async () => {
    await using server = await startRawServer();
    await using t = await startBridge({});
    await t.bridge.ready();
    await writeFile(`${t.configPath}.new`, JSON.stringify({ mcpServers: { s: { url: server.url } } }));
    await rename(`${t.configPath}.new`, t.configPath);
    await t.untilState((bridge) => bridge.server('s')?.state === 'connected');
  });

  it('changes nothing when it is broken, and says where', async () => {
    await using server = await startRawServer();
    await using t = await startBridge({ s: { url: server.url } });
    await t.bridge.ready();
    const good = await readFile(t.configPath, 'utf8');
    await writeFile(t.configPath, '{\n  "mcpServers": { oops }\n}');
    await t.bridge.reload();
    expect(t.bridge.configError()).toMatch(/^mcp\.json:2:\d+: not valid JSON/);
    expect(t.log.some((line) => line.level === 'error' && line.message.includes('mcp.json:2:'))).toBe(true);
    expect(await t.text('s', 'echo', {})).toBe('{}');
    await writeFile(t.configPath, good);
    await t.bridge.reload();
    expect(t.bridge.configError()).toBeUndefined();
    expect(server.count('initialize')).toBe(1);
  });

  it('keeps the old connection under the new filters when the new one cannot be made', async () => {
    await using server = await startRawServer();
    await using t = await startBridge({ s: { url: server.url } }, { settings: { connectRetryCount: 0 } });
    await t.bridge.ready();
    const gone = await startRawServer();
    await gone[Symbol.asyncDispose]();
    await t.write({ s: { url: gone.url, deniedTools: ['a'], id: t.bridge.server('s')?.id } });
    await t.bridge.reload();
    expect(t.bridge.server('s')).toMatchObject({ state: 'connected', tools: 1 });
    expect(t.bridge.server('s')?.lastError).toContain('ECONNREFUSED');
    expect(await t.text('s', 'a')).toMatch(/has no tool "a"/);
    expect(await t.text('s', 'echo', {})).toBe('{}');
    expect(t.indexed.at(-1)?.servers[0]?.toolNames).toEqual(['echo']);
  });

  it('is tried again when the new connection could not be made at first', async () => {
    let isUp = false;
    await using old = await startRawServer();
    await using next = await startRawServer({
      'server/discover': (_request, response) => {
        if (!isUp) return endWith(response, 503);
        throw new RpcError(-32_601, 'Method not found');
      },
      'tools/list': () => ({ tools: [toolNamed('new')] }),
    });
    const clock = fakeClock();
    await using t = await startBridge({ s: { url: old.url } }, { clock });
    await t.bridge.ready();
    await t.write({ s: { url: next.url, id: t.bridge.server('s')?.id } });
    await t.bridge.reload();
    expect(t.bridge.server('s')).toMatchObject({ state: 'connected', tools: 2 });
    isUp = true;
    await clock.advance(2_000);
    await t.untilState((bridge) => bridge.server('s')?.tools === 1);
    expect(await t.text('s', 'new', {})).toBe('{}');
  });

  it('lets a call finish on the connection that it replaces', async () => {
    const { script, letGo } = held();
    await using server = await startRawServer({ 'tools/call': script });
    await using t = await startBridge({ s: { url: server.url } });
    await t.bridge.ready();
    const call = t.text('s', 'a');
    await server.until('tools/call');
    await t.write({ s: { url: server.url, deniedTools: ['echo'], id: t.bridge.server('s')?.id } });
    await t.bridge.reload();
    expect(server.count('initialize')).toBe(2);
    expect(server.count('DELETE')).toBe(0);
    letGo();
    expect(await call).toBe('finished');
    await server.until('DELETE');
  });
});

describe('an entry', () => {
  it.each([
    ['argGuards', { argGuards: [{ handler: 'pathInside' }] }, 'refused', '"pathInside"'],
    ['an auth profile', { auth: { profile: 'corp' } }, 'refused', 'auth profile "corp"'],
    ['no url', { url: undefined }, 'refused', 'neither a "url" nor a "command"'],
    ['a bad field', { deniedTools: 'all' }, 'refused', 'mcpServers.s.deniedTools'],
    ['"disabled"', { disabled: true }, 'disabled', '"disabled": true'],
    ['a command', { url: undefined, command: 'node' }, 'skipped', '"mcp": { "stdio": "launch" }'],
  ])('with %s is not connected, and the others are', async (_what, fields, state, mentions) => {
    await using server = await startRawServer();
    await using t = await startBridge({ s: { url: `${server.url}?s`, ...fields }, other: { url: server.url } });
    await t.bridge.ready();
    expect(t.bridge.server('other')?.state).toBe('connected');
    const status = t.bridge.server('s');
    expect(status?.state).toBe(state);
    expect(status?.lastError).toContain(mentions);
    expect(await t.call('s', 'a')).toMatchObject({ failure: { code: 'tool_not_found' } });
    expect(server.count('initialize')).toBe(1);
  });

  it('that comes to ask for a protection that is not there loses its connection', async () => {
    await using server = await startRawServer();
    await using t = await startBridge({ s: { url: server.url } });
    await t.bridge.ready();
    await t.write({ s: { url: server.url, argGuards: [{ handler: 'x' }], id: t.bridge.server('s')?.id } });
    await t.bridge.reload();
    expect(t.bridge.server('s')?.state).toBe('refused');
    expect(t.indexed.at(-1)?.removedServers).toEqual(['s']);
    expect(await t.call('s', 'a')).toMatchObject({ failure: { code: 'tool_not_found' } });
  });

  it('whose name differs from another only in case is refused', async () => {
    await using server = await startRawServer();
    await using t = await startBridge({ wiki: { url: server.url }, Wiki: { url: `${server.url}?2` } });
    await t.bridge.ready();
    expect(t.bridge.servers().map(({ name, state }) => [name, state])).toEqual([
      ['Wiki', 'refused'],
      ['wiki', 'connected'],
    ]);
  });
});

describe('a request to refresh', () => {
  const request = (timestampMs: number, body: unknown = {}) =>
    createEnvelope({ messageType: 'McpRefresh', source: 'a', body, timestampMs });

  it('connects the named server anew and announces it, unless it is older than the first announcement', async () => {
    await using one = await startRawServer();
    await using two = await startRawServer();
    const clock = fakeClock();
    await using t = await startBridge({ one: { url: one.url }, two: { url: two.url } }, { clock });
    await t.bridge.ready();
    await t.bus.publish(topics.mcpMetaRefresh, request(clock.nowMs() - 1));
    await t.bus.publish(topics.mcpMetaRefresh, request(clock.nowMs(), { serverName: 'ONE' }));
    await one.until('initialize', 2);
    expect(two.count('initialize')).toBe(1);
    await t.untilState((bridge) => bridge.server('one')?.state === 'connected');
    await expect(t.bridge.refresh('three')).rejects.toMatchObject({ code: 'server_unknown' });
  });
});

describe('the sweep', () => {
  it('reads an old surface again and announces only what moved', async () => {
    const tools = [toolNamed('a')];
    await using server = await startRawServer({ 'tools/list': () => ({ tools }) });
    const clock = fakeClock();
    await using t = await startBridge(
      { s: { url: server.url } },
      {
        clock,
        settings: { connectTimeoutMs: 10 ** 9 },
      },
    );
    await t.bridge.ready();
    while (server.count('tools/list') < 3) await clock.advance(60_000);
    tools.push(toolNamed('b'));
    while (t.indexed.length < 2) await clock.advance(60_000);
    expect(t.indexed[1]?.servers[0]?.toolNames).toEqual(['a', 'b']);
  });
});

describe('the management handler', () => {
  it('says what is unknown and what cannot be reached', async () => {
    await using server = await startRawServer({ 'server/discover': (_request, response) => endWith(response, 500) });
    await using t = await startBridge({ s: { url: server.url } }, { clock: fakeClock() });
    await t.bridge.ready();
    const ask = async (serverName: string): Promise<unknown> =>
      (await t.ask(manageMessageTypes.getDetails, { serverName })).body;
    expect(await ask('nope')).toEqual({ error: 'There is no server "nope".' });
    expect(await ask('s')).toEqual({
      error: expect.stringMatching(/^Server "s" is registered but not reachable now\. .*status 500/) as string,
    });
  });
});

describe('disposing the bridge', () => {
  it('gives running calls their time and takes no new ones', async () => {
    const { script, letGo } = held();
    await using server = await startRawServer({ 'tools/call': script });
    await using t = await startBridge({ s: { url: server.url } });
    await t.bridge.ready();
    const call = t.text('s', 'a');
    await server.until('tools/call');
    const disposed = t.bridge[Symbol.asyncDispose]();
    letGo();
    expect(await call).toBe('finished');
    await disposed;
    expect(server.count('DELETE')).toBe(1);
  });

  it('ends calls that do not finish in time, with an answer', async () => {
    await using server = await startRawServer({ 'tools/call': () => written });
    await using t = await startBridge({ s: { url: server.url } }, { settings: { drainTimeoutMs: 50 } });
    await t.bridge.ready();
    const call = t.call('s', 'a');
    await server.until('tools/call');
    await t.bridge[Symbol.asyncDispose]();
    expect(await call).toMatchObject({ failure: { message: expect.stringContaining('Gantry is stopping') as string } });
    await server.until('notifications/cancelled');
  });

  it('does not wait for a server that is being connected', async () => {
    await using server = await startRawServer({ initialize: () => written });
    await using t = await startBridge({ s: { url: server.url } });
    await server.until('initialize');
    await t.bridge[Symbol.asyncDispose]();
    await t.bridge.ready();
  });
});
