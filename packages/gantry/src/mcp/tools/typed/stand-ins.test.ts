import { expect, it } from 'vitest';
import type { CallContext, WrapperMode } from '../../../tool/context.ts';
import { textOutcome } from '../../../tool/outcome.ts';
import type { ToolFamily } from '../../../tool/tool-family.ts';
import type { OpenTools } from '../__fixtures__/open-tools.ts';
import { openTools, tool } from '../__fixtures__/open-tools.ts';
import type { FamilyServers } from './stand-ins.ts';

const model: CallContext = { caller: 'model', namespace: 'session/1', tier: 'high' };
const replaced = 'fetch_url';

interface Families extends FamilyServers {
  /** Changes which servers can be called. */
  set(family: ToolFamily, ...servers: readonly string[]): void;
}
const families = (): Families => {
  const served = new Map<ToolFamily, readonly string[]>();
  const listeners = new Set<() => void>();
  return {
    of: (family) => served.get(family) ?? [],
    onChange: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    set: (family, ...servers) => {
      served.set(family, servers);
      for (const listener of listeners) listener();
    },
  };
};

/** A bundled tool with its short names, and a server `reader` that can take its place. */
const open = async (wrapperMode: WrapperMode = 'auto'): Promise<{ world: OpenTools; served: Families }> => {
  const served = families();
  const world = await openTools({ familyServers: served, settings: { wrapperMode } });
  world.registry.register(
    { name: replaced, aliases: ['fetch', 'fetch-url'], description: 'd', source: 'web', family: 'url_fetcher' },
    { execute: async () => textOutcome('bundled') },
  );
  await world.connect({
    reader: { tools: [tool('fetch_url'), tool('extract')] },
    notes: { tools: [tool('lookup')] },
  });
  return { world, served };
};
const has = ({ toolsets }: OpenTools, context: CallContext = model): boolean =>
  toolsets.for(context).tools.some(({ name }) => name === replaced);

it.each<WrapperMode>(['auto', 'eager', 'lazy', 'pinned', 'off'])(
  'takes the bundled tool from lists, names and calls while its server is there, in mode %s',
  async (mode) => {
    const { world, served } = await open(mode);
    await using _world = world;
    expect(has(world)).toBe(true);
    served.set('url_fetcher', 'reader');
    expect(has(world)).toBe(false);
    expect([...world.toolsets.names(model)]).not.toContain(replaced);
    for (const name of [replaced, 'fetch', 'fetch-url'])
      expect(await world.call(name, {}, model)).toMatch(
        mode === 'off'
          ? /Server "reader" does this now\. Send \{"server_name": "reader", "tool_name": "extract".*\} to mcp_invoke_tool/
          : /Server "reader" does this now: call reader__extract or reader__fetch_url\./,
      );
    served.set('url_fetcher');
    expect(has(world)).toBe(true);
    expect(await world.call('fetch', {}, model)).toBe('bundled');
  },
);

it.each<WrapperMode>(['lazy', 'pinned'])('lists what stands in for a listed tool, in mode %s', async (mode) => {
  const { world, served } = await open(mode);
  await using _world = world;
  served.set('url_fetcher', 'reader');
  expect(world.listed(model)).toEqual(['reader__extract', 'reader__fetch_url']);
});

it.each<WrapperMode>(['auto', 'lazy', 'off'])(
  'moves the stamp of a list, and tells of it, in mode %s',
  async (mode) => {
    const { world, served } = await open(mode);
    await using _world = world;
    let told = 0;
    world.toolsets.onChange(() => (told += 1));
    const before = world.toolsets.stamp(model);
    served.set('url_fetcher', 'reader');
    expect(world.toolsets.stamp(model)).not.toBe(before);
    expect(told).toBe(1);
    served.set('url_fetcher');
    expect(world.toolsets.stamp(model)).toBe(before);
  },
);

it('keeps the bundled tool where the server has none that this caller may run', async () => {
  const served = families();
  await using world = await openTools({
    familyServers: served,
    exposes: ({ name }, { client }) => client !== 'guest' || !name.startsWith('reader__'),
  });
  world.registry.register(
    { name: replaced, description: 'd', source: 'web', family: 'url_fetcher' },
    { execute: async () => textOutcome('bundled') },
  );
  await world.connect({ reader: { prompts: [{ name: 'ask', arguments: [] }] } });
  served.set('url_fetcher', 'reader');
  expect(has(world)).toBe(true);
  await world.connect({ reader: { tools: [tool('extract')] } });
  expect(has(world)).toBe(false);
  const guest: CallContext = { caller: 'client', client: 'guest' };
  expect(has(world, guest)).toBe(true);
  expect(await world.call(replaced, {}, guest)).toBe('bundled');
  expect(await world.call(replaced, {}, { caller: 'client', client: 'desk' })).toContain('call reader__extract');
});

it.each<WrapperMode>(['eager', 'lazy', 'off'])(
  'takes nothing from a run that names the bundled tool, in mode %s',
  async (mode) => {
    const { world, served } = await open(mode);
    await using _world = world;
    served.set('url_fetcher', 'reader');
    for (const name of [replaced, 'fetch']) {
      const named: CallContext = { ...model, namedTools: new Set([name]) };
      expect(has(world, named)).toBe(true);
      expect(await world.call(name, {}, named)).toBe('bundled');
    }
    expect(has(world, { ...model, namedTools: new Set(['web_search']) })).toBe(false);
  },
);

it('takes nothing from operators, and nothing of another family', async () => {
  const { world, served } = await open();
  await using _world = world;
  served.set('web_search', 'reader');
  expect(has(world)).toBe(true);
  served.set('url_fetcher', 'reader');
  expect(await world.call(replaced, {}, { caller: 'operator' })).toBe('bundled');
});

it('names no stand-in to who may not have the bundled tool either', async () => {
  const served = families();
  await using world = await openTools({
    familyServers: served,
    exposes: ({ name }, { caller }) => caller !== 'client' || name !== replaced,
  });
  world.registry.register(
    { name: replaced, description: 'd', source: 'web', family: 'url_fetcher' },
    { execute: async () => textOutcome('bundled') },
  );
  await world.connect({ reader: { tools: [tool('extract')] } });
  served.set('url_fetcher', 'reader');
  expect(await world.call(replaced, {}, { caller: 'client' })).not.toContain('does this now');
});
