import { describe, expect, it } from 'vitest';
import { createInProcessBus } from '../../../bus/in-process-bus.ts';
import type { Log } from '../../../kernel/log.ts';
import { silentLog } from '../../../kernel/log.ts';
import type { ToolExecutor } from '../../../tool/executor.ts';
import { textOutcome } from '../../../tool/outcome.ts';
import type { ServerSummary } from '../../wire/index-message.ts';
import type { DownstreamPrompt, DownstreamTool } from '../../wire/manage-messages.ts';
import { announce, summary } from '../__fixtures__/announce.ts';
import { createServerIndex } from '../server-index.ts';
import { createCatalog } from './catalog.ts';

const executor: ToolExecutor = { execute: async () => textOutcome('ran') };
const tool = (name: string, change: Partial<DownstreamTool> = {}): DownstreamTool => ({
  name,
  inputSchema: { type: 'object' },
  ...change,
});
const prompt = (name: string): DownstreamPrompt => ({ name, arguments: [] });

const open = async (answer: (server: string) => Promise<void> = async () => {}) => {
  const bus = createInProcessBus({ log: silentLog });
  const index = await createServerIndex({ bus, agent: 'main', log: silentLog });
  const surfaces = new Map<string, readonly DownstreamTool[]>();
  const prompts = new Map<string, readonly DownstreamPrompt[]>();
  const taken = new Set<string>();
  const asked: string[] = [];
  const warnings: string[] = [];
  const log: Log = { ...silentLog, warn: (_facts, message) => warnings.push(message) };
  const catalog = createCatalog({
    index,
    toolExecutor: executor,
    promptExecutor: () => executor,
    log,
    isTaken: (name) => taken.has(name),
    details: async (name) => {
      asked.push(name);
      await answer(name);
      const tools = surfaces.get(name);
      if (!tools) throw new Error('out of reach');
      return { tools, prompts: prompts.get(name) ?? [] };
    },
  });
  const index_ = (servers: readonly ServerSummary[], removedServers: readonly string[] = []) =>
    announce(bus, index, { servers, removedServers });
  const names = () => catalog.tools().map(({ typedName }) => typedName);
  const targets = () =>
    Object.fromEntries(catalog.tools().map(({ typedName, tool }) => [typedName, tool.registration.target]));
  const registration = (name: string) => catalog.get(name)?.tool.registration;
  return { catalog, surfaces, prompts, taken, asked, warnings, names, targets, registration, announce: index_ };
};

describe('createCatalog', () => {
  it('makes tools of an announced server under typed names with their own definition', async () => {
    const { registration, surfaces, announce, names } = await open();
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
    expect(registration('a-b__c-d')).toMatchObject({
      description: '[a.b] Does it.',
      title: 'Do',
      source: 'mcp:a.b',
      target: { server: 'a.b', tool: 'c.d' },
      annotations: { readOnlyHint: true },
      outputSchema: { type: 'object' },
    });
    expect(JSON.stringify(registration('a-b__c-d')?.inputSchema)).toBe(
      '{"properties":{"a":{"type":"number"},"z":{"type":"string"}},"required":["z"],"type":"object"}',
    );
    expect(registration('a-b__plain')?.description).toBe('[a.b] plain');
  });

  it('keeps a name of 64 characters, and gives a longer one the same short form every time', async () => {
    const { surfaces, announce, catalog } = await open();
    surfaces.set('s', [tool('x'.repeat(61)), tool('x'.repeat(62))]);
    await announce([summary('s')]);
    const [kept, short] = catalog.tools().map(({ typedName }) => typedName);
    expect(kept).toBe(`s__${'x'.repeat(61)}`);
    expect(short).toMatch(/^s__x{44}-[0-9a-f]{16}$/);
    const again = await open();
    again.surfaces.set('s', [tool('x'.repeat(62))]);
    await again.announce([summary('s')]);
    expect(again.names()).toEqual([short]);
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

  it('keeps the objects of what did not change and replaces what did', async () => {
    const { registration, surfaces, announce } = await open();
    surfaces.set('s', [tool('same'), tool('changed'), tool('gone')]);
    await announce([summary('s')]);
    const same = registration('s__same');
    surfaces.set('s', [tool('same'), tool('changed', { description: 'new' }), tool('came')]);
    await announce([summary('s', { fingerprint: 'f2' })]);
    expect(registration('s__same')).toBe(same);
    expect(registration('s__changed')?.description).toBe('[s] new');
    expect(registration('s__gone')).toBeUndefined();
    expect(registration('s__came')).toBeDefined();
  });

  it('replaces every tool when the name is another server now', async () => {
    const { catalog, surfaces, announce } = await open();
    surfaces.set('s', [tool('t')]);
    await announce([summary('s')]);
    const before = catalog.get('s__t')?.print;
    await announce([summary('s', { serverId: 'other' })]);
    expect(catalog.get('s__t')?.print).not.toBe(before);
  });

  it('makes one change of version per message, and none when nothing changed', async () => {
    const { catalog, surfaces, announce } = await open();
    surfaces.set('s', [tool('a'), tool('b')]);
    surfaces.set('t', [tool('a')]);
    await announce([summary('s'), summary('t')]);
    expect(catalog.version).toBe(1);
    await announce([summary('s', { fingerprint: null })]);
    expect(catalog.version).toBe(1);
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

  it('forgets a removed server, and remembers what its names were', async () => {
    const { surfaces, names, catalog, announce } = await open();
    surfaces.set('s', [tool('t')]);
    await announce([summary('s')]);
    await announce([], ['s']);
    expect(names()).toEqual([]);
    expect(catalog.get('s__t')).toBeUndefined();
    expect(catalog.formerly('s__t')).toEqual({ server: 's', name: 't' });
  });

  it('gives tools that come to one name distinct names, the plain one to the tool that is really called so', async () => {
    const { surfaces, announce, names, targets } = await open();
    surfaces.set('a.b', [tool('t'), tool('x.y'), tool('x-y')]);
    surfaces.set('a-b', [tool('t')]);
    await announce([summary('a.b'), summary('a-b')]);
    expect(names()).toHaveLength(4);
    expect(targets()['a-b__t']).toEqual({ server: 'a-b', tool: 't' });
    expect(names().every((name) => /^a-b__(?:t|x-y)(?:-[0-9a-f]{16})?$/.test(name))).toBe(true);
    expect(Object.values(targets())).toEqual(
      expect.arrayContaining([
        { server: 'a.b', tool: 't' },
        { server: 'a.b', tool: 'x.y' },
        { server: 'a.b', tool: 'x-y' },
      ]),
    );
  });

  it('gives the same names whatever the order in which servers and tools come', async () => {
    const servers = { 'a.b': [tool('t'), tool('x.y'), tool('x/y')], 'a-b': [tool('t')], 'a/b': [tool('t')] };
    const named = async (order: readonly (keyof typeof servers)[]) => {
      const { surfaces, announce, targets } = await open();
      for (const server of order) {
        surfaces.set(server, order[0] === 'a.b' ? servers[server] : servers[server].toReversed());
        await announce([summary(server)]);
      }
      return targets();
    };
    expect(await named(['a/b', 'a-b', 'a.b'])).toEqual(await named(['a.b', 'a-b', 'a/b']));
  });

  it('gives the plain name back when the one that had it is gone', async () => {
    const { surfaces, announce, targets } = await open();
    surfaces.set('a.b', [tool('t')]);
    surfaces.set('a-b', [tool('t')]);
    await announce([summary('a.b'), summary('a-b')]);
    await announce([], ['a-b']);
    expect(targets()).toEqual({ 'a-b__t': { server: 'a.b', tool: 't' } });
  });

  it('leaves a registered tool its name, and takes the name when it is free', async () => {
    const { catalog, taken, surfaces, announce, names } = await open();
    taken.add('s__t');
    surfaces.set('s', [tool('t')]);
    await announce([summary('s')]);
    expect(catalog.get('s__t')).toBeUndefined();
    expect(names()).toEqual([expect.stringMatching(/^s__t-[0-9a-f]{16}$/)]);
    taken.delete('s__t');
    await announce([summary('s')]);
    expect(names()).toEqual(['s__t']);
  });

  it('gives a name that a tool and a prompt would share to the tool, and lists no prompts among the tools', async () => {
    const { surfaces, prompts, announce, catalog, names } = await open();
    surfaces.set('s', [tool('ask-prompt')]);
    prompts.set('s', [prompt('ask'), prompt('other')]);
    await announce([summary('s')]);
    expect(catalog.get('s__ask-prompt')?.kind).toBe('tool');
    expect(catalog.get('s__other-prompt')?.kind).toBe('prompt');
    expect(names()).toEqual(['s__ask-prompt']);
    expect(catalog.ofServer('s').filter(({ kind }) => kind === 'prompt')).toHaveLength(2);
  });

  it('skips a tool whose definition is broken and keeps its neighbours', async () => {
    const { surfaces, names, announce, warnings } = await open();
    surfaces.set('s', [tool('bad', { inputSchema: { type: 'object', required: 'x' } }), tool('good')]);
    await announce([summary('s')]);
    expect(names()).toEqual(['s__good']);
    expect(warnings).toHaveLength(1);
  });

  it('lists by server and name, whatever order they were announced, answered and listed in', async () => {
    const last = Promise.withResolvers<void>();
    const { surfaces, names, announce } = await open(async (server) => {
      if (server === 'm') last.resolve();
      else await last.promise;
    });
    for (const name of ['z', 'a', 'm']) surfaces.set(name, [tool('u'), tool('t')]);
    await announce([summary('z'), summary('a'), summary('m')]);
    expect(names()).toEqual(['a__t', 'a__u', 'm__t', 'm__u', 'z__t', 'z__u']);
  });
});
