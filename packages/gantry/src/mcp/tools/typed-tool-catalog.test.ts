import { describe, expect, it } from 'vitest';
import { createInProcessBus } from '../../bus/in-process-bus.ts';
import type { Log } from '../../kernel/log.ts';
import { silentLog } from '../../kernel/log.ts';
import type { ToolExecutor } from '../../tool/executor.ts';
import { textOutcome } from '../../tool/outcome.ts';
import { createToolRegistry } from '../../tool/registry.ts';
import type { ServerSummary } from '../wire/index-message.ts';
import type { DownstreamTool } from '../wire/manage-messages.ts';
import { announce, summary } from './__fixtures__/announce.ts';
import { createServerIndex } from './server-index.ts';
import { createTypedToolCatalog } from './typed-tool-catalog.ts';

const executor: ToolExecutor = { execute: async () => textOutcome('ran') };
const tool = (name: string, change: Partial<DownstreamTool> = {}): DownstreamTool => ({
  name,
  inputSchema: { type: 'object' },
  ...change,
});

const open = async (options: { eager?: boolean; answer?: (server: string) => Promise<void> } = {}) => {
  const bus = createInProcessBus({ log: silentLog });
  const index = await createServerIndex({ bus, agent: 'main', log: silentLog });
  const registry = createToolRegistry();
  const surfaces = new Map<string, readonly DownstreamTool[]>();
  const asked: string[] = [];
  const warnings: string[] = [];
  const log: Log = { ...silentLog, warn: (_facts, message) => warnings.push(message) };
  const catalog = createTypedToolCatalog({
    index,
    executor,
    log,
    registry: options.eager === false ? undefined : registry,
    details: async (name) => {
      asked.push(name);
      await options.answer?.(name);
      const tools = surfaces.get(name);
      if (!tools) throw new Error('out of reach');
      return { server: { name, id: '' }, tools, prompts: [] };
    },
  });
  const names = () => registry.getTools().map(({ name }) => name);
  const index_ = (servers: readonly ServerSummary[], removedServers: readonly string[] = []) =>
    announce(bus, index, { servers, removedServers });
  return { catalog, registry, surfaces, asked, warnings, names, announce: index_ };
};

describe('createTypedToolCatalog', () => {
  it('registers the tools of an announced server under typed names with their own definition', async () => {
    const { registry, surfaces, announce, names } = await open();
    surfaces.set('a.b', [
      tool('c.d', {
        description: 'Does it.',
        title: 'Do',
        inputSchema: { type: 'object', properties: { z: { type: 'string' }, a: { type: 'number' } }, required: ['z'] },
        outputSchema: { type: 'object' },
        annotations: { readOnlyHint: true },
      }),
      tool('plain'),
    ]);
    await announce([summary('a.b')]);
    expect(names()).toEqual(['a-b__c-d', 'a-b__plain']);
    const { registration } = registry.get('a-b__c-d') ?? {};
    expect(registration).toMatchObject({
      description: '[a.b] Does it.',
      title: 'Do',
      source: 'mcp:a.b',
      target: { server: 'a.b', tool: 'c.d' },
      annotations: { readOnlyHint: true },
      outputSchema: { type: 'object' },
    });
    expect(JSON.stringify(registration?.inputSchema)).toBe(
      '{"properties":{"a":{"type":"number"},"z":{"type":"string"}},"required":["z"],"type":"object"}',
    );
    expect(registry.get('a-b__plain')?.registration.description).toBe('[a.b] plain');
  });

  it.each([
    { when: 'nothing moved', next: summary('s'), asked: 1 },
    { when: 'the fingerprint moved', next: summary('s', { fingerprint: 'f2' }), asked: 2 },
    { when: 'the id moved', next: summary('s', { serverId: 'other' }), asked: 2 },
    { when: 'there is no fingerprint', next: summary('s', { fingerprint: null }), asked: 2 },
  ])('asks for the tools of a known server as needed when $when', async ({ next, asked: times }) => {
    const { surfaces, asked, announce } = await open();
    surfaces.set('s', [tool('t')]);
    await announce([summary('s')]);
    await announce([next]);
    expect(asked).toHaveLength(times);
  });

  it('keeps the registration object of what did not change and replaces what did', async () => {
    const { registry, surfaces, announce } = await open();
    surfaces.set('s', [tool('same'), tool('changed'), tool('gone')]);
    await announce([summary('s')]);
    const same = registry.get('s__same')?.registration;
    surfaces.set('s', [tool('same'), tool('changed', { description: 'new' }), tool('came')]);
    await announce([summary('s', { fingerprint: 'f2' })]);
    expect(registry.get('s__same')?.registration).toBe(same);
    expect(registry.get('s__changed')?.registration.description).toBe('[s] new');
    expect(registry.get('s__gone')).toBeUndefined();
    expect(registry.get('s__came')).toBeDefined();
  });

  it('makes one change of version per message, and none when nothing changed', async () => {
    const { registry, surfaces, announce } = await open();
    surfaces.set('s', [tool('a'), tool('b')]);
    surfaces.set('t', [tool('a')]);
    await announce([summary('s'), summary('t')]);
    expect(registry.version).toBe(1);
    await announce([summary('s', { fingerprint: null })]);
    expect(registry.version).toBe(1);
  });

  it('keeps what is there while details cannot be fetched, and asks again at the next message', async () => {
    const { surfaces, names, asked, announce, warnings } = await open();
    surfaces.set('s', [tool('t')]);
    await announce([summary('s')]);
    surfaces.delete('s');
    await announce([summary('s', { fingerprint: 'f2' })]);
    expect(names()).toEqual(['s__t']);
    expect(warnings).toEqual(['the tools of a server could not be read; those known before stay']);
    surfaces.set('s', [tool('u')]);
    await announce([summary('s', { fingerprint: 'f2' })]);
    expect(names()).toEqual(['s__u']);
    expect(asked).toHaveLength(3);
  });

  it('removes the tools of a removed server', async () => {
    const { surfaces, names, catalog, announce } = await open();
    surfaces.set('s', [tool('t')]);
    await announce([summary('s')]);
    await announce([], ['s']);
    expect(names()).toEqual([]);
    expect(catalog.get('s__t')).toBeUndefined();
  });

  it('skips a name that is taken, with one log line, until its owner is gone', async () => {
    const { registry, surfaces, announce, warnings } = await open();
    surfaces.set('a.b', [tool('t'), tool('x.y'), tool('x-y')]);
    surfaces.set('a-b', [tool('t')]);
    const other = summary('a-b', { fingerprint: null });
    await announce([summary('a.b'), other]);
    await announce([other]);
    const owner = () => registry.get('a-b__t')?.registration.target?.server;
    expect(owner()).toBe('a.b');
    expect(registry.get('a-b__x-y')?.registration.target?.tool).toBe('x.y');
    expect(warnings).toHaveLength(2);
    await announce([], ['a.b']);
    expect(owner()).toBe('a-b');
  });

  it("leaves another source's tool its name, and takes the name when it is free", async () => {
    const { registry, surfaces, announce, warnings } = await open();
    registry.register({ name: 's__t', description: 'mine', source: 'local' }, executor);
    surfaces.set('s', [tool('t')]);
    await announce([summary('s')]);
    expect(registry.get('s__t')?.registration.source).toBe('local');
    expect(warnings).toHaveLength(1);
    registry.unregister('s__t');
    await announce([summary('s')]);
    expect(registry.get('s__t')?.registration.source).toBe('mcp:s');
  });

  it('skips a tool whose definition is broken and keeps its neighbours', async () => {
    const { surfaces, names, announce, warnings } = await open();
    surfaces.set('s', [tool('bad', { inputSchema: { type: 'object', required: 'x' } }), tool('good')]);
    await announce([summary('s')]);
    expect(names()).toEqual(['s__good']);
    expect(warnings).toHaveLength(1);
  });

  it('gives names in the order of the message, whatever order the answers come in', async () => {
    const last = Promise.withResolvers<void>();
    const answer = async (server: string): Promise<void> => {
      if (server === 'm') last.resolve();
      else await last.promise;
    };
    const { surfaces, catalog, announce } = await open({ eager: false, answer });
    for (const name of ['z', 'a', 'm']) surfaces.set(name, [tool('t')]);
    await announce([summary('z'), summary('a'), summary('m')]);
    expect(catalog.list().map(({ registration }) => registration.name)).toEqual(['z__t', 'a__t', 'm__t']);
  });

  it('only holds the tools when no registry is given', async () => {
    const { surfaces, names, catalog, announce } = await open({ eager: false });
    surfaces.set('s', [tool('t')]);
    await announce([summary('s')]);
    expect(names()).toEqual([]);
    expect(catalog.get('s__t')?.executor).toBe(executor);
  });

  it('takes its tools out of the registry when disposed', async () => {
    const { surfaces, names, catalog, announce } = await open();
    surfaces.set('s', [tool('t')]);
    await announce([summary('s')]);
    catalog[Symbol.dispose]();
    expect(names()).toEqual([]);
  });
});
