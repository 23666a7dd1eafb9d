import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../kernel/json.ts';
import { silentLog } from '../kernel/log.ts';
import { openSqliteStore } from '../store/sqlite/open-sqlite-store.ts';
import type { Store } from '../store/store.ts';
import type { FakeClock } from '../testing/fake-clock.ts';
import { fakeClock } from '../testing/fake-clock.ts';
import { testKeyring } from '../testing/test-keyring.ts';
import type { CallContext } from '../tool/context.ts';
import type { Tool } from '../tool/executor.ts';
import { memoryGuide } from './memory-guide.ts';
import { memoryTools } from './memory-tools.ts';
import type { WorkingMemory } from './working-memory.ts';
import { createWorkingMemory } from './working-memory.ts';

const minuteMs = 60_000;
let clock: FakeClock;
let store: Store;
let memory: WorkingMemory;
let tools: readonly Tool[];
beforeEach(async () => {
  clock = fakeClock();
  store = await openSqliteStore({ path: ':memory:', clock, keyring: testKeyring('k1'), log: silentLog });
  memory = createWorkingMemory({ keyValue: store.keyValue('working-memory'), clock, log: silentLog });
  tools = memoryTools(memory, clock);
});
afterEach(async () => {
  await memory[Symbol.asyncDispose]();
  await store[Symbol.asyncDispose]();
});

const session: CallContext = { caller: 'model', namespace: 'session/1' };
const call = async (tool: string, args: JsonObject, context: CallContext = session): Promise<string> => {
  const found = tools.find(({ registration }) => registration.name === `${tool}_working_memory`);
  if (!found) throw new Error(`no tool ${tool}`);
  const checked = await found.executor.checkArguments?.(args);
  if (!checked?.ok) throw new Error(JSON.stringify(checked));
  const prepared = { id: 'c', name: tool, arguments: checked.value, registration: found.registration };
  const outcome = await found.executor.execute(prepared, context);
  if (outcome.status !== 'done' || outcome.parts[0]?.type !== 'text') throw new Error(JSON.stringify(outcome));
  return outcome.parts[0].text;
};
const refused = { code: 'memory_refused' };

describe('save_to_working_memory', () => {
  it('saves a plain key in the own namespace and says the full key', async () => {
    expect(await call('save_to', { key: 'plan', data: 'text' })).toBe('Saved as `session/1/plan` (expires in 5 min).');
    expect(await call('save_to', { key: 'long', data: 'text', ttl_minutes: 240 })).toContain('(expires in 4 h)');
    expect((await memory.get('session/1/plan'))?.text).toBe('text');
  });

  it('takes a key with a slash as it is', async () => {
    await call('save_to', { key: 'session/1/a/b', data: 'mine' });
    await call('save_to', { key: 'Shared/note', data: 'for all' });
    expect((await memory.list('')).map(({ key }) => key).sort()).toEqual(['Shared/note', 'session/1/a/b']);
  });

  it.each(['session/2/x', 'session/12/x', 'a/b', 'shared', 'session/1', 'sharedx/y'])(
    'does not write to %s, which is somebody else’s',
    async (key) => {
      const saved = call('save_to', { key: key.includes('/') ? key : `${key}/`, data: 'x' });
      await expect(saved).rejects.toMatchObject(refused);
      expect(await memory.list('')).toEqual([]);
    },
  );

  it('writes only to shared/ without a session', async () => {
    const context: CallContext = { caller: 'client' };
    await expect(call('save_to', { key: 'plan', data: 'x' }, context)).rejects.toMatchObject(refused);
    await expect(call('save_to', { key: 'session/1/plan', data: 'x' }, context)).rejects.toMatchObject(refused);
    expect(await call('save_to', { key: 'shared/plan', data: 'x' }, context)).toContain('`shared/plan`');
  });

  it.each([{ ttl_minutes: 0 }, { ttl_minutes: -1 }, { ttl_minutes: 1e9 }, { tags: 'a' }, { other: 1 }])(
    'does not accept %j',
    async (args) => {
      await expect(call('save_to', { key: 'k', data: 'x', ...args })).rejects.toThrow('"ok":false');
    },
  );
});

describe('get_from_working_memory', () => {
  it('gives the whole text, also of a namespace that is not the own', async () => {
    const text = 'x'.repeat(100_000);
    await memory.save('subagent/t1/out', text);
    expect(await call('get_from', { key: 'subagent/T1/OUT' })).toBe(text);
    expect(tools.find(({ registration }) => registration.name.startsWith('get_'))?.registration.returnsStored).toBe(
      true,
    );
  });

  it('names the full key of what is missing or expired', async () => {
    await call('save_to', { key: 'plan', data: 'x' });
    await clock.advance(5 * minuteMs);
    const text = await call('get_from', { key: 'plan' });
    expect(text).toContain('`session/1/plan`');
    expect(text).not.toContain('These exist');
  });

  it('lists the keys that a subagent did save', async () => {
    await memory.save('subagent/t1/report', 'x');
    await memory.save('subagent/t2/summary', 'x');
    expect(await call('get_from', { key: 'subagent/t1/summary' })).toContain('These exist: `subagent/t1/report`.');
  });

  it('finds the same key of another task when that one saved nothing, but not across tenants', async () => {
    await memory.save('subagent/t2/summary', 'x');
    await memory.save('subagent/t3/else', 'x');
    const args = { key: 'subagent/t1/summary' };
    expect(await call('get_from', args)).toContain('These exist: `subagent/t2/summary`.');
    expect(await call('get_from', args, { ...session, workspace: 'w' })).not.toContain('t2');
    await expect(call('get_from', args, { caller: 'client' })).rejects.toMatchObject(refused);
  });

  it('gives a client of the gateway what is kept for clients, and no conversation however well it guesses', async () => {
    await memory.save('client/8f2a/chunk0', 'its result');
    await memory.save('shared/note', 'for all');
    await memory.save('session/1/mine', 'private');
    const client = { caller: 'client' } as const;
    expect(await call('get_from', { key: 'client/8f2a/chunk0' }, client)).toBe('its result');
    expect(await call('get_from', { key: 'shared/note' }, client)).toBe('for all');
    for (const key of ['session/1/mine', 'Session/1/MINE', 'clients/x', 'sharedx/note', 'client/../session/1/mine'])
      if (key.startsWith('client/')) expect(await call('get_from', { key }, client)).not.toContain('private');
      else await expect(call('get_from', { key }, client)).rejects.toMatchObject(refused);
    await expect(call('search', { namespace: 'session/1' }, client)).rejects.toMatchObject(refused);
  });
});

describe('delete_from_working_memory', () => {
  it('deletes what is the caller’s, and nothing else', async () => {
    await memory.save('session/1/a', 'x');
    await memory.save('session/2/a', 'x');
    expect(await call('delete_from', { key: 'a' })).toBe('Deleted `session/1/a`.');
    expect(await call('delete_from', { key: 'a' })).toContain('There is no entry `session/1/a`');
    await expect(call('delete_from', { key: 'session/2/a' })).rejects.toMatchObject(refused);
    expect(await memory.get('session/2/a')).toBeDefined();
  });
});

describe('search_working_memory', () => {
  beforeEach(async () => {
    await memory.save('session/1/weather', 'Rain in Lisbon\nand "wind"', {
      category: 'web/page',
      tags: ['Travel', 'EU'],
    });
    await clock.advance(1);
    await memory.save('session/1/hotels', `Hotels in Lisbon ${'x'.repeat(200)}`, { category: 'webs' });
    await memory.save('session/12/weather', 'Rain elsewhere');
  });

  it.each([{}, { query: '  \n ' }, { namespace: '' }])('lists newest first without previews for %j', async (args) => {
    expect(await call('search', args)).toBe(
      [
        '2 working memory entries in session/1:',
        '- `session/1/hotels` (category: webs; expires in 5 min)',
        '- `session/1/weather` (category: web/page; tags: Travel, EU; expires in 5 min)',
      ].join('\n'),
    );
  });

  it('ranks by relevance and shows a preview on one line, cut at 120 characters', async () => {
    const text = await call('search', { query: 'rain lisbon' });
    const [header, first, second] = text.split('\n');
    expect(header).toBe('2 working memory entries in session/1 matching "rain lisbon":');
    expect(first).toMatch(/^- `session\/1\/weather` .*: Rain in Lisbon and 'wind'$/);
    expect(second).toMatch(/: Hotels in Lisbon x{103}…$/);
  });

  it.each([
    [{ query: 'weather' }, ['weather']],
    [{ query: 'eu' }, ['weather']],
    [{ category: 'web' }, ['weather']],
    [{ category: 'WEB/page' }, ['weather']],
    [{ tags: ['travel', 'eu'] }, ['weather']],
    [{ category: 'web', query: 'hotels' }, []],
    [{ tags: ['travel', 'asia'] }, []],
  ])('finds by %j', async (args, names) => {
    const text = await call('search', args);
    expect([...text.matchAll(/^- `session\/1\/(\w+)`/gm)].map((match) => match[1])).toEqual(names);
  });

  it.each([
    ['own', {}, { ...session, namespace: 'session/9' }, 'Your working memory (session/9) is empty.'],
    ['other', { namespace: 'subagent/t9' }, session, 'There are no working memory entries in subagent/t9.'],
    ['filtered', { category: 'mail' }, session, 'No working memory entry in session/1 matches category "mail".'],
    ['filtered', { query: 'zebra' }, session, 'No working memory entry in session/1 matches "zebra".'],
  ])('says in its own words that nothing is there: %s', async (_, args, context, text) => {
    expect(await call('search', args, context)).toBe(text);
  });

  it('shows at most 20 results of a query, and says how many there are', async () => {
    for (let n = 0; n < 30; n += 1) await memory.save(`session/3/${n}`, 'zebra');
    const text = await call('search', { query: 'zebra', namespace: 'session/3' });
    expect(text).toContain('30 working memory entries in session/3 matching "zebra", the first 20:');
    expect(text.split('\n')).toHaveLength(21);
    expect((await call('search', { namespace: 'session/3' })).split('\n')).toHaveLength(31);
  });

  it.each(['session', 'client', '/session/'])('does not list across namespaces (%s)', async (namespace) => {
    await expect(call('search', { namespace })).rejects.toMatchObject(refused);
  });

  it('lists shared/ for a caller without a session', async () => {
    await memory.save('shared/a', 'x');
    expect(await call('search', { namespace: 'shared' }, { caller: 'client' })).toContain('`shared/a`');
    await expect(call('search', {}, { caller: 'client' })).rejects.toMatchObject(refused);
  });
});

it('has a guide that names every tool', () => {
  for (const { registration } of tools) expect(memoryGuide.getDocument()).toContain(registration.name);
});
