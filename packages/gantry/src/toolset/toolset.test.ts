import { describe, expect, it } from 'vitest';
import type { Log } from '../kernel/log.ts';
import { silentLog } from '../kernel/log.ts';
import type { CallContext } from '../tool/context.ts';
import { textOutcome } from '../tool/outcome.ts';
import type { ToolDefinition } from '../tool/registration.ts';
import type { ToolRegistry } from '../tool/registry.ts';
import { createToolRegistry } from '../tool/registry.ts';
import { fakeTypedTools } from '../testing/fake-typed-tools.ts';
import type { Tool } from '../tool/executor.ts';
import { toRegistration } from '../tool/registration.ts';
import type { Toolsets } from './toolset.ts';
import { createToolsets } from './toolset.ts';

const registryOf = (...definitions: readonly (Partial<ToolDefinition> & { name: string })[]): ToolRegistry => {
  const registry = createToolRegistry();
  for (const definition of definitions)
    registry.register({ description: 'd', source: 'local', ...definition }, { execute: async () => textOutcome('') });
  return registry;
};
const toolsetsOf = (registry: ToolRegistry, log: Log = silentLog): Toolsets => createToolsets({ registry, log });
const model = (context: Partial<CallContext> = {}): CallContext => ({ caller: 'model', ...context });
const names = (toolsets: Toolsets, context: CallContext): string[] =>
  toolsets.for(context).tools.map((tool) => tool.name);

it('tells a model apart that its provider lacks a tool, and that this turn does', () => {
  const toolsets = toolsetsOf(
    registryOf(
      { name: 'fetch', requires: { providers: { deny: ['novelai'] } } },
      { name: 'once', available: () => false },
      { name: 'flagged', requires: { featureFlag: 'off' } },
    ),
  );
  const novelAi = model({ model: { provider: 'NovelAI' } });
  expect(toolsets.missing('fetch', novelAi)?.text).toContain('not supported with the model provider "NovelAI"');
  const turn = toolsets.missing('once', model({ model: { provider: 'openai' } }))?.text;
  expect(turn).toContain('not available in this turn');
  expect(turn).not.toContain('provider');
  expect(toolsets.missing('flagged', model())?.text).toContain('not available in this turn');
  expect(toolsets.missing('once', { caller: 'client' })).toBeUndefined();
  expect(toolsets.missing('nope', model())).toBeUndefined();
});

it('never mixes up a provider that lacks a tool and a turn that does, and logs the two apart', () => {
  const lines: string[] = [];
  const note =
    (level: string) =>
    (facts: object): void =>
      void lines.push(`${level} ${String((facts as { tool?: string }).tool)}`);
  const log: Log = { ...silentLog, warn: note('warn'), error: note('error') };
  const denied = { providers: { deny: ['novelai'] } };
  const toolsets = toolsetsOf(
    registryOf(
      { name: 'denied', requires: denied },
      { name: 'own_word', available: () => true, requires: { ...denied, featureFlag: 'off' } },
      { name: 'ran_already', available: () => false },
      {
        name: 'broken',
        available: () => {
          throw new Error('boom');
        },
      },
    ),
    log,
  );
  const context = model({ model: { provider: 'novelai' } });
  expect(toolsets.missing('denied', context)?.text).toMatch(/provider "novelai"/);
  for (const name of ['own_word', 'ran_already', 'broken'])
    expect(toolsets.missing(name, context)?.text).toMatch(
      /not available in this turn.*Do not call it again in this turn/,
    );
  expect(lines).toEqual(['error denied', 'warn own_word', 'warn ran_already', 'warn broken']);
});

it('finds a tool by an earlier name for whoever may have it, and suggests its own name', () => {
  const toolsets = toolsetsOf(
    registryOf({ name: 'save_memory', aliases: ['remember'], requires: { featureFlag: 'memory' } }),
  );
  const on = model({ features: new Set(['memory']) });
  expect(toolsets.find('remember', on)?.registration.name).toBe('save_memory');
  expect([...toolsets.names(on)]).toEqual(['save_memory']);
  expect(toolsets.find('remember', model())).toBeUndefined();
  expect(toolsets.missing('remember', model())?.text).toContain('not available in this turn');
});

describe('availability', () => {
  const rows: readonly [string, Partial<ToolDefinition>, Partial<CallContext>, boolean][] = [
    ['a tool that asks for nothing', {}, {}, true],
    [
      'a denied provider, in any case',
      { requires: { providers: { deny: ['novelai'] } } },
      { model: { provider: 'NovelAI' } },
      false,
    ],
    [
      'another provider than the denied',
      { requires: { providers: { deny: ['novelai'] } } },
      { model: { provider: 'openai' } },
      true,
    ],
    [
      'a provider that is not on the allow list',
      { requires: { providers: { allow: ['openai'] } } },
      { model: { provider: 'google' } },
      false,
    ],
    [
      'a tool for blind models, with one that sees',
      { requires: { modelCapabilities: { sees_images: false } } },
      { model: { provider: 'x', capabilities: { sees_images: true } } },
      false,
    ],
    [
      'a tool for blind models, with a blind one',
      { requires: { modelCapabilities: { sees_images: false } } },
      { model: { provider: 'x' } },
      true,
    ],
    ['a feature flag nobody knows', { requires: { featureFlag: 'no_such' } }, { features: new Set(['other']) }, false],
    [
      'a feature flag that is on',
      { requires: { featureFlag: 'web_search' } },
      { features: new Set(['web_search']) },
      true,
    ],
    [
      'a permission that is missing',
      { requires: { permissions: ['SEND_MESSAGES'] } },
      { permissions: { granted: [], isThread: false } },
      false,
    ],
    [
      'a permission that is granted',
      { requires: { permissions: ['SEND_MESSAGES'] } },
      { permissions: { granted: ['SEND_MESSAGES'], isThread: false } },
      true,
    ],
    [
      'sending messages in a thread, where that is granted for the channel only',
      { requires: { permissions: ['SEND_MESSAGES'] } },
      { permissions: { granted: ['SEND_MESSAGES'], isThread: true } },
      false,
    ],
    [
      'sending messages in a thread, where that is granted for threads only',
      { requires: { permissions: ['SEND_MESSAGES'] } },
      { permissions: { granted: ['SEND_MESSAGES_IN_THREADS'], isThread: true } },
      true,
    ],
    [
      'sending messages in a channel, where that is granted for threads only',
      { requires: { permissions: ['SEND_MESSAGES'] } },
      { permissions: { granted: ['SEND_MESSAGES_IN_THREADS'], isThread: false } },
      false,
    ],
    [
      'stickers in a thread, which are no other permission there',
      { requires: { permissions: ['SEND_MESSAGES', 'USE_EXTERNAL_STICKERS'] } },
      {
        permissions: {
          granted: ['SEND_MESSAGES_IN_THREADS', 'USE_EXTERNAL_STICKERS'],
          isThread: true,
        },
      },
      true,
    ],
    [
      'a permission that could not be read',
      { requires: { permissions: ['SEND_MESSAGES'] } },
      { permissions: 'unreadable' },
      false,
    ],
    ['a tool that needs no permission, where none could be read', {}, { permissions: 'unreadable' }, true],
    [
      'a permission, on a surface without a permission model',
      { requires: { permissions: ['SEND_MESSAGES'] } },
      {},
      true,
    ],
    ...['web-search', 'iask-search', 'monica-search', 'felo-search'].map((name): (typeof rows)[number] => [
      `the function ${name} of an engine`,
      { name, source: 'mcp:search' },
      { features: new Set(['web_search']) },
      false,
    ]),
    ['a tool that says no itself', { available: () => false }, {}, false],
    ['a tool that says nothing itself', { available: (() => undefined) as unknown as () => boolean }, {}, true],
    [
      'a tool that gives a promise in place of a word',
      { available: (async () => true) as unknown as () => boolean },
      {},
      false,
    ],
    [
      'a tool whose own word stands in place of its provider list',
      { available: () => true, requires: { providers: { deny: ['x'] } } },
      { model: { provider: 'x' } },
      true,
    ],
  ];
  it.each(rows)('decides on %s', (_what, definition, context, visible) => {
    const toolsets = toolsetsOf(registryOf({ name: 't', ...definition }));
    expect(names(toolsets, model(context))).toEqual(visible ? ['t'] : []);
    expect(toolsets.find('t', model(context)) !== undefined).toBe(visible);
  });

  it('hides only the tool whose check throws, and logs it', () => {
    const lines: string[] = [];
    const log: Log = { ...silentLog, warn: (facts, message) => lines.push(`${String(facts['tool'])}: ${message}`) };
    const registry = registryOf(
      { name: 'good' },
      {
        name: 'bad',
        available: () => {
          throw new Error('boom');
        },
      },
    );
    expect(names(toolsetsOf(registry, log), model())).toEqual(['good']);
    expect(lines).toEqual(['bad: a tool was hidden because its availability check failed']);
  });

  it('judges a call afresh, so a tool that was shown and has gone since is not run', () => {
    let isOn = true;
    const toolsets = toolsetsOf(registryOf({ name: 't', available: () => isOn }));
    expect(names(toolsets, model())).toEqual(['t']);
    isOn = false;
    expect(toolsets.find('t', model())).toBeUndefined();
  });

  it('leaves out sources that this kind of caller is not offered', () => {
    const registry = registryOf({ name: 'a', source: 'web' }, { name: 'b', source: 'schedule' });
    const toolsets = createToolsets({
      registry,
      log: silentLog,
      exposes: (tool, { caller }) => caller !== 'client' || tool.source === 'web',
    });
    expect(names(toolsets, { caller: 'client' })).toEqual(['a']);
    expect(names(toolsets, model())).toEqual(['b', 'a']);
    expect(toolsets.find('b', { caller: 'client' })).toBeUndefined();
  });
});

describe('assembly', () => {
  it('gives a tool without a hook back as the identical object', () => {
    const registry = registryOf({ name: 't' });
    expect(toolsetsOf(registry).for(model()).tools[0]).toBe(registry.get('t')?.registration);
    expect(toolsetsOf(registry).find('t', model())).toBe(registry.get('t'));
  });

  it('hides a tool whose hook returns null', () => {
    expect(names(toolsetsOf(registryOf({ name: 't', assemble: () => null }, { name: 'u' })), model())).toEqual(['u']);
  });

  it('lets a variant change nothing of what the tool is, whom it is for and where it runs', () => {
    const registry = registryOf({
      name: 't',
      category: 'media',
      requires: { providers: { deny: ['x'] } },
      available: () => true,
      returnsStored: true,
      assemble: () => ({
        name: 'u',
        description: 'narrow',
        source: 'v',
        inputSchema: { type: 'object' },
        category: 'w',
        target: { server: 's', tool: 't' },
      }),
    });
    const original = registry.get('t')!.registration;
    const { description, inputSchema, outputSchema, annotations, title, ...rest } =
      toolsetsOf(registry).for(model()).tools[0]!;
    expect([description, inputSchema, outputSchema, annotations, title]).toEqual([
      'narrow',
      { type: 'object' },
      undefined,
      undefined,
      undefined,
    ]);
    expect(original).toMatchObject(rest);
    expect(rest.target).toBeUndefined();
    expect(original.description).toBe('d');
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('boom');
      },
    ],
    ['gives nothing', () => undefined],
    ['gives a promise, which nobody waits for', async () => null],
  ])('hides a tool whose hook %s', (_what, assemble) => {
    const registry = registryOf({ name: 't', assemble: assemble as unknown as () => null }, { name: 'u' });
    expect(names(toolsetsOf(registry), model())).toEqual(['u']);
    expect(toolsetsOf(registry).find('t', model())).toBeUndefined();
  });

  it('gives equal variants as one object from turn to turn, and others as others', () => {
    let kinds = ['text'];
    const registry = registryOf({
      name: 't',
      assemble: () => ({
        ...registry.get('t')!.registration,
        inputSchema: { type: 'object', properties: { kind: { enum: [...kinds] } } },
      }),
    });
    const toolsets = toolsetsOf(registry);
    const [first] = toolsets.for(model()).tools;
    expect(toolsets.for(model()).tools[0]).toBe(first);
    expect(toolsets.find('t', model())?.registration).toBe(first);
    kinds = ['text', 'image'];
    expect(toolsets.for(model()).tools[0]?.inputSchema['properties']).toEqual({ kind: { enum: ['text', 'image'] } });
    kinds = ['text'];
    expect(toolsets.for(model()).tools[0]).toBe(first);
  });

  it('is asked again at the call, which is refused when the tool has gone from the turn', () => {
    let hasSlot = true;
    const registry = registryOf({ name: 't', assemble: () => (hasSlot ? registry.get('t')!.registration : null) });
    const toolsets = toolsetsOf(registry);
    expect(names(toolsets, model())).toEqual(['t']);
    hasSlot = false;
    expect(toolsets.find('t', model())).toBeUndefined();
  });

  it('lets a variant change its schema but not the original, its name or its source', () => {
    const inputSchema = {
      type: 'object',
      properties: { q: { type: 'string' }, kind: { type: 'string' } },
      required: ['q', 'kind'],
    };
    const registry = registryOf({
      name: 't',
      inputSchema,
      assemble: () => ({
        name: 'other',
        source: 'elsewhere',
        description: 'narrow',
        inputSchema: { ...inputSchema, properties: { q: { type: 'string' } } },
      }),
    });
    const [variant] = toolsetsOf(registry).for(model()).tools;
    expect(variant).toMatchObject({
      name: 't',
      source: 'local',
      description: 'narrow',
      inputSchema: { required: ['q'] },
    });
    expect(registry.get('t')?.registration.inputSchema).toEqual(inputSchema);
    expect(toolsetsOf(registry).find('t', model())?.registration.description).toBe('narrow');
  });
});

it('lists the same tools in the same order from turn to turn', () => {
  const registry = registryOf(
    { name: 'z', source: 'mcp:b' },
    { name: 'a', source: 'mcp:b' },
    { name: 'm', source: 'mcp:a' },
  );
  const toolsets = toolsetsOf(registry);
  const payload = (): string =>
    JSON.stringify(
      toolsets.for(model()).tools.map(({ name, description, inputSchema }) => [name, description, inputSchema]),
    );
  const first = payload();
  registry.unregister('a');
  registry.register({ name: 'a', description: 'd', source: 'mcp:b' }, { execute: async () => textOutcome('') });
  expect(payload()).toBe(first);
  expect(names(toolsets, model())).toEqual(['m', 'a', 'z']);
});

describe('the tools of servers', () => {
  const typed: Tool = {
    registration: toRegistration({
      name: 's__t',
      description: 'd',
      source: 'mcp:s',
      available: ({ client }) => client !== 'no',
    }),
    executor: { execute: async () => textOutcome('') },
  };

  it('come behind the registered ones, can be run by who may see them, and can be suggested', () => {
    const toolsets = toolsetsOf(registryOf({ name: 'z' }));
    toolsets.offer(fakeTypedTools(typed));
    expect(names(toolsets, model())).toEqual(['z', 's__t']);
    expect(toolsets.find('s__t', model())?.registration).toBe(typed.registration);
    expect([...toolsets.names(model())]).toEqual(['z', 's__t']);
    expect(toolsets.find('s__t', model({ client: 'no' }))).toBeUndefined();
    expect([...toolsets.names(model({ client: 'no' }))]).toEqual(['z']);
  });

  it('never stand in for a registered tool of the same name', () => {
    const registry = registryOf({ name: 's__t' });
    const toolsets = toolsetsOf(registry);
    toolsets.offer(fakeTypedTools(typed));
    expect(toolsets.find('s__t', model())?.registration.source).toBe('local');
  });

  it('take nothing else away when they cannot be read', async () => {
    const lines: string[] = [];
    const log: Log = { ...silentLog, warn: (_facts, message) => lines.push(message) };
    const fail = (): never => {
      throw new Error('down');
    };
    const registry = registryOf({ name: 'z' });
    const toolsets = toolsetsOf(registry, log);
    toolsets.offer({
      ...fakeTypedTools(typed),
      get: fail,
      names: fail,
      missing: fail,
      shape: fail,
      stamp: fail,
      prepare: async () => fail(),
    });
    await toolsets.prepare(model());
    expect(toolsets.for(model()).tools).toEqual(toolsetsOf(registry).for(model()).tools);
    expect(toolsets.find('z', model())).toBeDefined();
    expect(toolsets.find('s__t', model())).toBeUndefined();
    expect([...toolsets.names(model())]).toEqual(['z']);
    expect(toolsets.missing('s__t', model())).toBeUndefined();
    expect(toolsets.stamp(model())).toBe(toolsetsOf(registry).stamp(model()));
    expect(new Set(lines).size).toBe(2);
  });

  it('are offered once', () => {
    const toolsets = toolsetsOf(registryOf());
    toolsets.offer(fakeTypedTools(typed));
    expect(() => toolsets.offer(fakeTypedTools(typed))).toThrow(/once/);
  });

  it('move the stamp with the registry, and tell listeners of either', () => {
    const registry = registryOf();
    const toolsets = toolsetsOf(registry);
    const stamps = [toolsets.stamp(model())];
    const stop = toolsets.onChange(() => void stamps.push(toolsets.stamp(model())));
    toolsets.offer(fakeTypedTools(typed));
    registry.register({ name: 'new', description: 'd', source: 'local' }, typed.executor);
    stop();
    registry.unregister('new');
    expect(new Set(stamps).size).toBe(3);
  });
});
