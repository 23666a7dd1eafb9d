import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLog } from '../packages/gantry/src/kernel/log.ts';
import { systemClock } from '../packages/gantry/src/kernel/clock.ts';
import type { ServiceDetails } from '../packages/gantry/src/mcp/wire/manage-messages.ts';
import { manageMessageTypes } from '../packages/gantry/src/mcp/wire/manage-messages.ts';
import { openSqliteStore } from '../packages/gantry/src/store/sqlite/open-sqlite-store.ts';
import type { Store } from '../packages/gantry/src/store/store.ts';
import { fakeClock } from '../packages/gantry/src/testing/fake-clock.ts';
import type { HarnessOptions } from './fixtures/bridge-harness.ts';
import { startBridge } from './fixtures/bridge-harness.ts';
import { endWith, RpcError, startRawServer, toolNamed, written } from './fixtures/raw-server.ts';

const id = 'aaaaaaaaaaaa';
const fixture = (name: string): string => fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url));

let store: Store;

beforeEach(async () => {
  const keyring = { currentId: 'k', keys: new Map([['k', randomBytes(32)]]) };
  store = await openSqliteStore({ path: ':memory:', clock: systemClock, keyring, log: silentLog });
});
afterEach(() => store[Symbol.asyncDispose]());

const saved = async (): Promise<string[]> => (await store.documents('mcp-catalog').list()).map((entry) => entry.id);

describe('what a server offered', () => {
  it('is offered at the next start before it is connected, details included', async () => {
    let hangs = false;
    await using server = await startRawServer({
      'server/discover': () => {
        if (hangs) return written;
        throw new RpcError(-32_601, 'Method not found');
      },
    });
    const entry = { id, url: server.url };
    await using first = await startBridge({ s: entry }, { store });
    await first.bridge.ready();
    await first.bridge[Symbol.asyncDispose]();
    hangs = true;
    await using t = await startBridge({ renamed: entry }, { store });
    const [announced] = (await t.untilIndexed((message) => message.servers.length > 0)).servers;
    expect(announced).toMatchObject({ serverName: 'renamed', serverId: id, toolNames: ['a', 'echo'] });
    expect(announced?.fingerprint).toMatch(/^[0-9a-f]{64}$/);
    expect(t.bridge.server('renamed')).toMatchObject({ state: 'connecting', tools: 2 });
    const details = (await t.ask(manageMessageTypes.getDetails, { serverName: 'renamed' })).body as ServiceDetails;
    expect(details.server).toMatchObject({ name: 'renamed', id });
    expect(details.tools.map((tool) => tool.name)).toEqual(['a', 'echo']);
  });

  it('under another entry is not offered', async () => {
    await using server = await startRawServer();
    await using first = await startBridge({ s: { id, url: server.url } }, { store });
    await first.bridge.ready();
    await first.bridge[Symbol.asyncDispose]();
    await using t = await startBridge({ s: { id, url: `${server.url}?other`, disabled: true } }, { store });
    await t.bridge.ready();
    expect(t.bridge.server('s')).toMatchObject({ state: 'disabled', tools: 0 });
    expect(t.indexed.flatMap((message) => message.servers)).toEqual([]);
  });

  it('is kept up to date, and forgotten with the server', async () => {
    const tools = [toolNamed('a')];
    await using server = await startRawServer({ 'tools/list': () => ({ tools }) });
    await using t = await startBridge({ s: { id, url: server.url } }, { store });
    await t.bridge.ready();
    tools.push(toolNamed('b'));
    await t.bridge.refresh('s');
    await t.bridge.reload();
    const [kept] = await store.documents<{ lists: { listed: object[] } }>('mcp-catalog').list();
    expect(kept?.value.lists.listed).toHaveLength(2);
    await t.bridge.remove('s');
    await t.bridge.reload();
    expect(await saved()).toEqual([]);
  });

  it('is kept while an entry of the file cannot be read: it may be that one', async () => {
    await using server = await startRawServer();
    await using t = await startBridge({ s: { id, url: server.url } }, { store });
    await t.bridge.ready();
    await t.write({ s: { id, url: 'nonsense' } });
    await t.bridge.reload();
    await t.bridge.reload();
    expect(await saved()).toEqual([id]);
  });
});

describe('a program', () => {
  const options: HarnessOptions = { settings: { stdio: 'launch' } };
  const startsOf = async (pidFile: string): Promise<number> =>
    (await readFile(pidFile, 'utf8')).split('\n').filter(Boolean).length;

  it('of which it is known what it offers is started on first use and ended when it is not used', async () => {
    await using first = await startBridge({}, { ...options, store });
    const pidFile = join(first.folder, 'pids');
    const plan = { pidFile, plays: { slow: { answers: [{ atMs: 0, as: 'result' }] } } };
    const entry = { id, command: process.execPath, args: [fixture('stdio-player.ts'), JSON.stringify(plan)] };
    await first.write({ s: entry });
    await first.bridge.reload();
    await first.untilState((bridge) => bridge.server('s')?.state === 'connected');
    await first.bridge[Symbol.asyncDispose]();
    expect(await startsOf(pidFile)).toBe(1);

    const clock = fakeClock();
    await using t = await startBridge(
      { s: entry },
      { store, clock, settings: { stdio: 'launch', stdioIdleSeconds: 60 } },
    );
    await t.bridge.ready();
    expect(t.bridge.server('s')).toMatchObject({ state: 'idle', tools: 3, transport: 'stdio' });
    expect(await startsOf(pidFile)).toBe(1);

    expect(await t.text('s', 'slow')).toBe('result of slow');
    expect(t.bridge.server('s')?.state).toBe('connected');
    await clock.advance(59_000);
    expect(await t.text('s', 'slow')).toBe('result of slow');
    await clock.advance(59_000);
    expect(t.bridge.server('s')?.state).toBe('connected');
    await clock.advance(1_000);
    await t.untilState((bridge) => bridge.server('s')?.state === 'idle');
    expect(t.bridge.server('s')?.tools).toBe(3);
    expect(await startsOf(pidFile)).toBe(2);

    // A change that does not concern the program leaves it where it is.
    await t.write({ s: { ...entry, toolTimeoutMs: 5_000 } });
    await t.bridge.reload();
    expect(t.bridge.server('s')?.state).toBe('idle');
    expect(await startsOf(pidFile)).toBe(2);

    expect(await t.text('s', 'slow')).toBe('result of slow');
    expect(await startsOf(pidFile)).toBe(3);
    expect(t.indexed.flatMap((message) => message.removedServers)).toEqual([]);
  });

  it('that dies right after every start is left alone after three times, until a person says so', async () => {
    const clock = fakeClock();
    const entry = { id, command: process.execPath, args: [fixture('stdio-server.ts'), 'fragile'] };
    await using t = await startBridge({ s: entry }, { ...options, store, clock });
    await t.bridge.ready();
    for (const [waitMs, state] of [
      [2_000, 'unreachable'],
      [4_000, 'quarantined'],
    ] as const) {
      await t.untilState((bridge) => bridge.server('s')?.state === 'unreachable');
      const lost = t.log.filter((line) => line.message.includes('was lost')).length;
      await clock.advance(waitMs);
      await t.untilState(
        (bridge) =>
          bridge.server('s')?.state === state &&
          t.log.filter((line) => line.message.includes('was lost')).length > lost,
      );
    }
    expect(t.bridge.server('s')?.lastError).toContain('left alone for another 60 s');
    expect(await t.text('s', 'env')).toMatch(/registered but not reachable now.*"gantry servers refresh s"/);
    await t.bridge.refresh('s');
    await t.untilState((bridge) => bridge.server('s')?.state === 'unreachable');
  });
});

describe('quarantine', () => {
  it('pays a time-out once per cool-down, and ends with a change of the entry', async () => {
    let hangs = true;
    await using server = await startRawServer({
      'server/discover': (_request, response) => {
        if (hangs) return endWith(response, 500);
        throw new RpcError(-32_601, 'Method not found');
      },
    });
    const clock = fakeClock();
    await using t = await startBridge({ s: { id, url: server.url } }, { clock });
    await t.bridge.ready();
    for (const waitMs of [2_000, 4_000]) {
      await clock.advance(waitMs);
      await t.untilState((bridge) => bridge.server('s')?.state !== 'connecting');
    }
    expect(t.bridge.server('s')?.state).toBe('quarantined');
    await clock.advance(60_000);
    await server.until('server/discover', 4);
    await t.untilState((bridge) => bridge.server('s')?.state === 'quarantined');
    await clock.advance(60_000);
    await Promise.all([1, 2, 3].map(() => t.call('s', 'echo')));
    expect(server.count('server/discover')).toBe(4);
    hangs = false;
    await t.write({ s: { id, url: server.url, toolTimeoutMs: 1_000 } });
    await t.bridge.reload();
    expect(t.bridge.server('s')?.state).toBe('connected');
  });

  it('does not count attempts that calls make and that fail at once', async () => {
    let isUp = false;
    await using server = await startRawServer({
      'server/discover': (_request, response) => {
        if (!isUp) return endWith(response, 503);
        throw new RpcError(-32_601, 'Method not found');
      },
    });
    await using t = await startBridge({ s: { id, url: server.url } }, { clock: fakeClock() });
    await t.bridge.ready();
    for (let i = 0; i < 5; i += 1) expect(await t.text('s', 'echo')).toContain('503');
    isUp = true;
    expect(await t.text('s', 'echo', {})).toBe('{}');
  });
});

describe('a server that is killed in the middle of many calls', () => {
  it('ends every call over HTTP in a result or an error, and repeats none that may have had an effect', async () => {
    const ran = new Map<string, number>();
    const gate = Promise.withResolvers<void>();
    let isOld = true;
    await using server = await startRawServer({
      'tools/list': () => ({
        tools: [toolNamed('write'), toolNamed('read', { annotations: { readOnlyHint: true } })],
      }),
      'tools/call': async ({ params, session }, response) => {
        if (!isOld && session === 'session-1') return endWith(response, 404);
        const { key = '' } = (params?.['arguments'] ?? {}) as { key?: string };
        ran.set(key, (ran.get(key) ?? 0) + 1);
        if (isOld) await gate.promise;
        return { content: [{ type: 'text', text: key }] };
      },
    });
    await using t = await startBridge({ s: { id, url: server.url } });
    await t.bridge.ready();
    const calls = Array.from({ length: 1_000 }, (_, index) => {
      const tool = index % 2 === 0 ? 'read' : 'write';
      return t.call('s', tool, { key: `${tool}${index}` });
    });
    await server.until('tools/call', 500);
    isOld = false;
    server.server.closeAllConnections();
    const outcomes = await Promise.all(calls);
    gate.resolve();
    const reads = outcomes.filter((_, index) => index % 2 === 0);
    expect(new Set(reads.map((outcome) => outcome.status))).toEqual(new Set(['done']));
    for (const outcome of outcomes)
      if (outcome.status === 'failed')
        // What may have run is not to be repeated without a look.
        expect(outcome.failure).toMatchObject({
          code: 'execution_failed',
          retry: outcome.failure.message.includes('is unknown. Check') ? 'never' : 'later',
        });
    const writes = [...ran].filter(([key]) => key.startsWith('write'));
    expect(writes.filter(([, times]) => times > 1)).toEqual([]);
    expect(await t.text('s', 'write', { key: 'after' })).toBe('after');
    expect(server.count('initialize')).toBe(2);
  });

  it('ends every call to a program, and none reaches the next one', async () => {
    await using t = await startBridge({}, { settings: { stdio: 'launch' } });
    const plan = { pidFile: join(t.folder, 'pid'), plays: { slow: { answers: [] } } };
    const entry = { id, command: process.execPath, args: [fixture('stdio-player.ts'), JSON.stringify(plan)] };
    await t.write({ s: entry });
    await t.bridge.reload();
    await t.untilState((bridge) => bridge.server('s')?.state === 'connected');
    const calls = Array.from({ length: 1_000 }, () => t.call('s', 'slow'));
    const seen = JSON.parse(await t.text('s', 'seen')) as { seen: { method: string }[] };
    expect(seen.seen.filter(({ method }) => method === 'tools/call')).toHaveLength(1_001);
    process.kill(Number(await readFile(plan.pidFile, 'utf8')), 'SIGKILL');
    const outcomes = await Promise.all(calls);
    expect(new Set(outcomes.map((outcome) => outcome.status === 'failed' && outcome.failure.code))).toEqual(
      new Set(['execution_failed']),
    );
    const next = JSON.parse(await t.text('s', 'seen')) as { seen: { method: string }[] };
    expect(next.seen.filter(({ method }) => method === 'tools/call')).toHaveLength(1);
  });
});
