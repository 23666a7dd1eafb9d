import { describe, expect, it } from 'vitest';
import type { CallContext, WrapperMode } from '../../../tool/context.ts';
import { failedOutcome } from '../../../tool/outcome.ts';
import type { OpenTools, OpenToolsOptions } from '../__fixtures__/open-tools.ts';
import { openTools, tool } from '../__fixtures__/open-tools.ts';
import { findToolsName } from './typed-tools.ts';

const session = (id: string, change: Partial<CallContext> = {}): CallContext => ({
  caller: 'model',
  namespace: `session/${id}`,
  tier: 'high',
  ...change,
});
const one = session('1');
const numbered = (count: number, prefix = 't') =>
  Array.from({ length: count }, (_, at) => tool(`${prefix}${String(at).padStart(3, '0')}`));
const open = (settings: OpenToolsOptions['settings'] = {}, options: OpenToolsOptions = {}): Promise<OpenTools> =>
  openTools({ settings, ...options });
const finds = (world: OpenTools, context: CallContext): boolean =>
  world.toolsets.for(context).tools.some(({ name }) => name === findToolsName);

describe('modes', () => {
  it.each<{ mode: WrapperMode; typed: readonly string[]; search: boolean }>([
    { mode: 'off', typed: [], search: false },
    { mode: 'eager', typed: ['s__a', 's__b'], search: false },
    { mode: 'lazy', typed: [], search: true },
    { mode: 'pinned', typed: [], search: true },
  ])('lists in mode $mode what it says, and the management tools always', async ({ mode, typed, search }) => {
    await using world = await open({ wrapperMode: mode });
    await world.connect({ s: { tools: [tool('b'), tool('a')] } });
    expect(world.listed(one)).toEqual(typed);
    expect(finds(world, one)).toBe(search);
    const names = world.toolsets.for(one).tools.map(({ name }) => name);
    expect(names).toContain('mcp_invoke_tool');
    // The registry never holds typed tools, whatever the mode.
    expect(world.registry.getTools().some(({ name }) => name.includes('__'))).toBe(false);
  });

  it('gives each tier its own mode, from the same tools', async () => {
    await using world = await open({ wrapperMode: 'lazy', wrapperModeByTier: { low: 'eager', high: 'off' } });
    await world.connect({ s: { tools: [tool('a')] } });
    expect(world.listed(session('1', { tier: 'low' }))).toEqual(['s__a']);
    expect(finds(world, session('1', { tier: 'low' }))).toBe(false);
    expect(finds(world, session('1', { tier: 'balanced' }))).toBe(true);
    expect(finds(world, session('1', { tier: 'high' }))).toBe(false);
  });

  it('knows no typed name in a run whose mode is off', async () => {
    await using world = await open({ wrapperMode: 'off' });
    await world.connect({ s: { tools: [tool('a')] } });
    expect(await world.call('s__a', {}, one)).toMatch(/no tool named "s__a"/);
    expect(await world.call('mcp_invoke_tool', { server_name: 's', tool_name: 'a' }, one)).toBe('s/a ran');
  });

  it.each<{ mode: WrapperMode; find: string; without: string }>([
    {
      mode: 'off',
      find: 'mcp_list_services names the tools of servers, and mcp_invoke_tool calls them.',
      without: '__',
    },
    {
      mode: 'eager',
      find: 'mcp_list_services names the tools of servers; call one as {server}__{tool}.',
      without: 'mcp_find',
    },
    {
      mode: 'auto',
      find: 'mcp_list_services names the tools of servers; call one as {server}__{tool}.',
      without: 'mcp_find',
    },
    { mode: 'lazy', find: 'Search the tools of servers with mcp_find_tools.', without: 'mcp_invoke_tool calls' },
    { mode: 'pinned', find: 'Search the tools of servers with mcp_find_tools.', without: 'mcp_invoke_tool calls' },
  ])(
    'tells who calls an unknown name in mode $mode what to look with, and nothing that his list lacks',
    async (row) => {
      await using world = await open({ wrapperMode: row.mode });
      expect(await world.call('weather', {}, one)).not.toContain('servers');
      await world.connect({ s: { tools: [tool('a')] } });
      const text = await world.call('weather', {}, one);
      expect(text).toContain(row.find);
      const names = world.toolsets.for(one).tools.map(({ name }) => name);
      for (const [named] of text.matchAll(/mcp_[a-z_]+/g)) expect(names).toContain(named);
      if (row.mode !== 'eager' && row.mode !== 'auto') expect(text.replaceAll('s__a', '')).not.toContain(row.without);
      else expect(text).not.toContain(row.without);
    },
  );

  it('suggests the tool that a made-up server or a near name means, by the name under which this caller can call it', async () => {
    await using world = await open({ wrapperModeByTier: { low: 'off' } });
    await world.connect({
      disk: { tools: [tool('read_file'), tool('write_file')] },
      box: { tools: [tool('read_file')] },
    });
    expect(await world.call('filesystem__write_file', {}, one)).toContain('Did you mean disk__write_file?');
    expect(await world.call('filesystem__wriet-file', {}, one)).toContain('Did you mean disk__write_file?');
    expect(await world.call('disk_x__read_file', {}, one)).toMatch(
      /Did you mean (?:disk|box)__read_file, (?:disk|box)__read_file/,
    );
    const off = session('1', { tier: 'low' });
    for (const name of ['filesystem__write_file', 'disk__write_file', 'write_file']) {
      const text = await world.call(name, {}, off);
      expect(text).toContain('Send {"server_name": "disk", "tool_name": "write_file", "arguments": ');
      expect(text).not.toContain('Did you mean disk__');
    }
  });

  it('suggests no tool of a server that this caller may not have', async () => {
    await using world = await openTools({
      exposes: ({ target }) => target?.server !== 'secret',
    });
    await world.connect({ secret: { tools: [tool('read_file')] } });
    for (const name of ['disk__read_file', 'read_file', 'weather'])
      expect(await world.call(name, {}, one)).not.toMatch(/secret|servers/);
  });

  it('shows an operator everything, and changes nothing for it', async () => {
    await using world = await open({ wrapperMode: 'off' });
    await world.connect({ s: { tools: [tool('a')] } });
    expect(world.listed({ caller: 'operator' })).toEqual(['s__a']);
    expect(finds(world, { caller: 'operator' })).toBe(true);
  });

  it('is eager for clients and for models without a tier while few tools can be seen, and pinned beyond', async () => {
    await using world = await open();
    await world.connect({ s: { tools: numbered(40) } });
    for (const context of [{ caller: 'client' }, { caller: 'model' }] as const) {
      expect(world.listed(context)).toHaveLength(40);
      expect(finds(world, context)).toBe(false);
    }
    await world.connect({ t: { tools: [tool('one-more')] } });
    for (const context of [{ caller: 'client' }, { caller: 'model' }] as const) {
      expect(world.listed(context)).toEqual([]);
      expect(finds(world, context)).toBe(true);
    }
  });

  it('counts for auto only what the caller can see', async () => {
    await using world = await open(
      {},
      { exposes: ({ source }, { client }) => source !== 'mcp:big' || client === 'boss' },
    );
    await world.connect({ big: { tools: numbered(60) }, small: { tools: [tool('a')] } });
    expect(world.listed({ caller: 'client', client: 'guest' })).toEqual(['small__a']);
    expect(world.listed({ caller: 'client', client: 'boss' })).toEqual([]);
  });

  it('keeps a list without the search closed: it gains nothing', async () => {
    await using world = await open({}, { exposes: ({ name }) => name !== findToolsName });
    await world.connect({ s: { tools: [tool('a')] } });
    await world.call('s__a', {}, one);
    expect(world.listed(one)).toEqual([]);
  });

  it('fills a list of a model up to the limit of a request only, and gives a client all', async () => {
    await using world = await open({ wrapperMode: 'eager', maxToolsPerRequest: 12 });
    await world.connect({ s: { tools: numbered(50) } });
    expect(world.toolsets.for(one).tools).toHaveLength(12);
    expect(world.listed({ caller: 'client', wrapperMode: 'eager' })).toHaveLength(50);
  });
});

describe('activation', () => {
  it('runs a tool that is not listed and lists it from then on, in the order of activation', async () => {
    await using world = await open({ wrapperMode: 'lazy' });
    await world.connect({ s: { tools: [tool('a'), tool('b'), tool('c')] } });
    expect(await world.call('s__c', {}, one)).toBe('s/c ran');
    await world.call('s__a', {}, one);
    await world.call('s__c', {}, one);
    expect(world.listed(one)).toEqual(['s__c', 's__a']);
    expect(world.listed(session('2'))).toEqual([]);
  });

  it('drops the oldest beyond the cap, and keeps the place of what is activated again', async () => {
    await using world = await open({ wrapperMode: 'lazy', maxActivatedToolsPerSession: 2 });
    await world.connect({ s: { tools: [tool('a'), tool('b'), tool('c')] } });
    for (const name of ['a', 'b', 'a']) await world.call(findToolsName, { query: `s__${name}`, limit: 1 }, one);
    expect(world.listed(one)).toEqual(['s__a', 's__b']);
    await world.call('s__c', {}, one);
    expect(world.listed(one)).toEqual(['s__b', 's__c']);
  });

  it('does nothing when every tier is eager', async () => {
    await using world = await open({ wrapperMode: 'eager' });
    await world.connect({ s: { tools: [tool('a')] } });
    await world.call('s__a', {}, one);
    expect(await world.store.keyValue('mcp-surfaces').count('')).toBe(0);
  });

  it('keeps what was activated when a session moves to a tier that does not activate and back', async () => {
    await using world = await open({ wrapperMode: 'lazy', wrapperModeByTier: { low: 'off' } });
    await world.connect({ s: { tools: [tool('a')] } });
    await world.call(findToolsName, { query: 'a' }, session('1', { tier: 'low' }));
    expect(world.listed(session('1', { tier: 'low' }))).toEqual([]);
    expect(world.listed(one)).toEqual(['s__a']);
  });

  it('evicts a tool that changed, and only that, until it is found again', async () => {
    await using world = await open({ wrapperMode: 'lazy' });
    await world.connect({ s: { tools: [tool('a'), tool('b')] } });
    await world.call('s__a', {}, one);
    await world.call('s__b', {}, one);
    await world.connect({ s: { tools: [tool('a', { description: 'New.' }), tool('b')] } });
    expect(world.listed(one)).toEqual(['s__b']);
    expect(await world.call(findToolsName, { query: 's__a', limit: 1 }, one)).toContain('New.');
    expect(world.listed(one)).toEqual(['s__b', 's__a']);
  });

  it('forgets a removed server, and says of its old names that they are no longer available', async () => {
    await using world = await open();
    await world.connect({ s: { tools: [tool('a')] }, t: { tools: [tool('x')] } });
    await world.call('s__a', {}, one);
    await world.disconnect('s');
    expect(world.listed(one)).toEqual([]);
    expect(await world.call('s__a', {}, one)).toMatch(/server "s" and is no longer available.*mcp_list_services/);
    await world.connect({ s: { tools: [tool('a')] } });
    expect(world.listed(one)).toEqual([]);
  });

  it('points to the search when a name means nothing', async () => {
    await using world = await open();
    await world.connect({ s: { tools: [tool('a')] } });
    expect(await world.call('no__such', {}, one)).toContain('mcp_find_tools');
  });

  it('forgets a session that nobody used for the idle time', async () => {
    await using world = await open({ wrapperMode: 'lazy' });
    await world.connect({ s: { tools: [tool('a')] } });
    await world.call('s__a', {}, one);
    await world.call('s__a', {}, session('2'));
    await world.clock.advance(11 * 3_600_000);
    expect(world.listed(session('2'))).toEqual(['s__a']);
    await world.clock.advance(2 * 3_600_000);
    expect(world.listed(one)).toEqual([]);
    expect(world.listed(session('2'))).toEqual(['s__a']);
  });

  it('finds a session again after a restart', async () => {
    await using before = await open();
    await before.connect({ s: { tools: [tool('a')] } });
    await before.call('s__a', {}, one);
    await using after = await open({}, { store: before.store });
    // The session is asked for before its server is there.
    await after.toolsets.prepare(one);
    await after.connect({ other: { tools: [tool('x')] } });
    await after.connect({ s: { tools: [tool('a')] } });
    expect(after.listed(one)).toEqual(['s__a']);
  });
});

describe('pins', () => {
  it('lists all tools of a called server behind the activations, also after a call that failed', async () => {
    await using world = await open({}, { answer: () => failedOutcome('execution_failed', 'no') });
    await world.connect({ s: { tools: [tool('c'), tool('b'), tool('a')] } });
    await world.call('s__b', {}, one);
    expect(world.listed(one)).toEqual(['s__b', 's__a', 's__c']);
    expect(world.listed({ ...one, wrapperMode: 'lazy' })).toEqual(['s__b']);
  });

  it('pins the server of mcp_invoke_tool too, and no server that is unknown', async () => {
    await using world = await open({ maxPinnedServersPerSession: 1 });
    await world.connect({ s: { tools: [tool('a')] } });
    await world.call('mcp_invoke_tool', { server_name: 'S', tool_name: 'a' }, one);
    await world.call('mcp_invoke_tool', { server_name: 'invented', tool_name: 'a' }, one);
    expect(world.listed(one)).toEqual(['s__a']);
  });

  it('keeps the servers that were called last', async () => {
    await using world = await open({ maxPinnedServersPerSession: 1 });
    await world.connect({ s: { tools: [tool('a'), tool('b')] }, t: { tools: [tool('a'), tool('b')] } });
    await world.call('s__a', {}, one);
    await world.call('t__a', {}, one);
    expect(world.listed(one)).toEqual(['s__a', 't__a', 't__b']);
  });

  it('spends the budget on the most recent server first, and lists by server all the same', async () => {
    await using world = await open({ maxActivatedToolsPerSession: 4 });
    await world.connect({ a: { tools: numbered(3) }, z: { tools: numbered(3) } });
    await world.call('mcp_invoke_tool', { server_name: 'a', tool_name: 't000' }, one);
    await world.call('mcp_invoke_tool', { server_name: 'z', tool_name: 't000' }, one);
    expect(world.listed(one)).toEqual(['a__t000', 'z__t000', 'z__t001', 'z__t002']);
  });

  it('records none when no tier is pinned', async () => {
    await using world = await open({ wrapperMode: 'lazy' });
    await world.connect({ s: { tools: [tool('a'), tool('b')] } });
    await world.call('mcp_invoke_tool', { server_name: 's', tool_name: 'a' }, one);
    expect(world.listed({ ...one, wrapperMode: 'pinned' })).toEqual([]);
  });

  it('never brings a prompt in', async () => {
    await using world = await open();
    await world.connect({ s: { tools: [tool('a')], prompts: [{ name: 'ask', arguments: [] }] } });
    await world.call('s__a', {}, one);
    expect(world.listed(one)).toEqual(['s__a']);
  });
});

describe('a list', () => {
  it('has the same bytes from turn to turn, from process to process, and grows at its end', async () => {
    const bytes = (world: OpenTools): string => JSON.stringify(world.toolsets.for(one).tools);
    await using world = await open();
    await world.connect({ b: { tools: [tool('z'), tool('a')] }, a: { tools: [tool('m')] } });
    await world.call('mcp_invoke_tool', { server_name: 'a', tool_name: 'm' }, one);
    const first = bytes(world);
    expect(bytes(world)).toBe(first);
    await using other = await open();
    await other.connect({ a: { tools: [tool('m')] } });
    await other.connect({ b: { tools: [tool('a'), tool('z')] } });
    await other.call('mcp_invoke_tool', { server_name: 'a', tool_name: 'm' }, one);
    expect(bytes(other)).toBe(first);
    await world.call('mcp_invoke_tool', { server_name: 'b', tool_name: 'a' }, one);
    expect(bytes(world).startsWith(first.slice(0, -1))).toBe(true);
  });

  it('has a stamp that moves exactly when the list of that caller does', async () => {
    await using world = await open();
    await world.connect({ s: { tools: numbered(60) } });
    const [me, other]: CallContext[] = [
      { caller: 'client', connection: 'a' },
      { caller: 'client', connection: 'b' },
    ];
    const before = [world.toolsets.stamp(me as CallContext), world.toolsets.stamp(other as CallContext)];
    let notices = 0;
    world.toolsets.onChange(() => (notices += 1));
    await world.call('s__t007', {}, me as CallContext);
    expect(notices).toBeGreaterThan(0);
    expect(world.toolsets.stamp(me as CallContext)).not.toBe(before[0]);
    expect(world.toolsets.stamp(other as CallContext)).toBe(before[1]);
    const after = world.toolsets.stamp(me as CallContext);
    await world.connect({ t: { tools: [tool('x')] } });
    expect(world.toolsets.stamp(me as CallContext)).toBe(after);
  });
});

describe('clients', () => {
  it('keeps what a client with a token found in the store, and nothing of one without identity', async () => {
    await using world = await open();
    await world.connect({ s: { tools: numbered(60) } });
    const known: CallContext = { caller: 'client', client: 'desk' };
    const nobody: CallContext = { caller: 'client' };
    expect(await world.call('s__t001', {}, nobody)).toBe('s/t001 ran');
    expect(world.listed(nobody)).toEqual([]);
    await world.call(findToolsName, { query: 's__t001', limit: 1 }, known);
    expect(world.listed(known)).toEqual(['s__t001']);
    await using replica = await open({}, { store: world.store });
    await replica.connect({ s: { tools: numbered(60) } });
    await replica.toolsets.prepare(known);
    expect(replica.listed(known)).toEqual(['s__t001']);
  });

  it('keeps a connection apart from others of the same client, and finds it again in another process', async () => {
    await using world = await open();
    await world.connect({ s: { tools: numbered(60) } });
    const connection = (id: string): CallContext => ({ caller: 'client', client: 'desk', connection: id });
    await world.call(findToolsName, { query: 's__t001', limit: 1 }, connection('1'));
    expect(world.listed(connection('1'))).toEqual(['s__t001']);
    expect(world.listed(connection('2'))).toEqual([]);
    await using replica = await open({}, { store: world.store });
    await replica.connect({ s: { tools: numbered(60) } });
    await replica.toolsets.prepare(connection('1'));
    expect([connection('1'), connection('2')].map((each) => replica.listed(each))).toEqual([['s__t001'], []]);
  });

  it('hides from search, details, lists and calls alike what a client may not have', async () => {
    await using world = await open(
      {},
      { exposes: ({ source }, { caller }) => caller !== 'client' || source !== 'mcp:secret' },
    );
    await world.connect({ secret: { tools: [tool('a')] }, s: { tools: [tool('a')] } });
    const client: CallContext = { caller: 'client', wrapperMode: 'eager' };
    expect(world.listed(client)).toEqual(['s__a']);
    expect(JSON.parse(await world.call(findToolsName, { query: 'a' }, client))).toMatchObject({
      tools: [{ name: 's__a' }],
    });
    expect(JSON.parse(await world.call(findToolsName, { query: 'secret__a' }, client))).toMatchObject({ tools: [] });
    expect(await world.call('mcp_get_service_details', { server_name: 'secret' }, client)).toContain('no server');
    expect(await world.call('mcp_list_services', {}, client)).not.toContain('secret');
    expect(await world.call('secret__a', {}, client)).toContain('no tool named');
    expect(await world.call('mcp_invoke_tool', { server_name: 'secret', tool_name: 'a' }, client)).toContain(
      'mcp_list_services',
    );
    expect(world.sent).toEqual([]);
  });
});
