import { describe, expect, it } from 'vitest';
import type { ToolExecutor } from './executor.ts';
import { textOutcome } from './outcome.ts';
import type { ToolDefinition } from './registration.ts';
import { createToolRegistry } from './registry.ts';

const executor = (text = 'ok'): ToolExecutor => ({ execute: async () => textOutcome(text) });
const definition = (name: string, source = 'local'): ToolDefinition => ({ name, description: `Does ${name}.`, source });

describe('registering', () => {
  it('refuses a name that is taken, names its owner, and leaves the first in place', () => {
    const registry = createToolRegistry();
    const first = executor();
    registry.register(definition('search', 'web'), first);
    expect(() => registry.register(definition('search', 'mcp:wiki'), executor())).toThrow(
      /"search" is already registered \(source web\)/,
    );
    expect(registry.getExecutor('search')).toBe(first);
  });

  it('finds a tool under its earlier names, and lists it under its own', () => {
    const registry = createToolRegistry();
    const saved = executor();
    registry.register({ ...definition('save_memory'), aliases: ['remember', 'store'] }, saved);
    expect(registry.get('remember')?.registration.name).toBe('save_memory');
    expect(registry.getExecutor('store')).toBe(saved);
    expect(registry.getTools().map((tool) => tool.name)).toEqual(['save_memory']);
    registry.unregister('save_memory');
    expect(registry.get('remember')).toBeUndefined();
  });

  it.each([
    ['a name that is an earlier name of another tool', definition('remember')],
    ['an earlier name that another tool has', { ...definition('other'), aliases: ['remember'] }],
    ['an earlier name that is the name of another tool', { ...definition('other'), aliases: ['save_memory'] }],
  ])('refuses %s', (_what, second) => {
    const registry = createToolRegistry();
    const first = executor();
    registry.register({ ...definition('save_memory'), aliases: ['remember'] }, first);
    expect(() => registry.register(second, executor())).toThrow(/already registered/);
    const tool = { registration: { ...second, inputSchema: {} }, executor: executor() };
    expect(registry.replace({ remove: [], add: [tool] })).toEqual([tool]);
    expect(registry.getExecutor('remember')).toBe(first);
    expect(registry.replace({ remove: ['save_memory'], add: [tool] })).toEqual([]);
  });

  it('frees a name when its tool is unregistered, and says whether there was one', () => {
    const registry = createToolRegistry();
    registry.register(definition('search'), executor());
    expect(registry.unregister('search')).toBe(true);
    expect(registry.unregister('search')).toBe(false);
    registry.register(definition('search'), executor());
    expect(registry.get('search')).toBeDefined();
  });

  it('tells names apart by case', () => {
    const registry = createToolRegistry();
    registry.register(definition('Search'), executor());
    expect(registry.get('search')).toBeUndefined();
    registry.register(definition('search'), executor());
    expect(registry.getTools()).toHaveLength(2);
  });

  it.each([
    ['no registration', undefined, /registration object is needed/],
    ['null', null, /registration object is needed/],
    ['a blank name', { name: ' ', description: 'd', source: 's' }, /name must be/],
    ['a blank description', { name: 'n', description: '', source: 's' }, /"n": description must be/],
    ['no source', { name: 'n', description: 'd' }, /source must be/],
    ['a schema that is no object', { ...definition('n'), inputSchema: 'x' }, /inputSchema must be/],
    ['aliases that are no names', { ...definition('n'), aliases: ['ok', ' '] }, /aliases must be/],
    ['aliases that are no list', { ...definition('n'), aliases: 'remember' }, /aliases must be/],
    [
      'a required that is no list',
      { ...definition('n'), inputSchema: { type: 'object', properties: {}, required: true } },
      /required must be a list/,
    ],
  ])('refuses %s', (_what, wrong, message) => {
    expect(() => createToolRegistry().register(wrong as unknown as ToolDefinition, executor())).toThrow(message);
  });

  it.each([undefined, null, {}])('refuses the executor %j', (wrong) => {
    expect(() => createToolRegistry().register(definition('n'), wrong as ToolExecutor)).toThrow(/executor is needed/);
  });

  it('gives a tool without a schema the empty object schema', () => {
    const registry = createToolRegistry();
    registry.register(definition('n'), executor());
    expect(registry.getTools()[0]?.inputSchema).toEqual({ type: 'object', properties: {} });
  });
});

describe('listing', () => {
  it('orders by source, then name, whatever the order of arrival', () => {
    const registry = createToolRegistry();
    for (const [name, source] of [
      ['z', 'b'],
      ['m', 'a'],
      ['a', 'b'],
    ] as const)
      registry.register(definition(name, source), executor());
    expect(registry.getTools().map((tool) => tool.name)).toEqual(['m', 'a', 'z']);
  });

  it('gives a snapshot that later changes do not touch', () => {
    const registry = createToolRegistry();
    registry.register(definition('a'), executor());
    const before = registry.getTools();
    registry.register(definition('b'), executor());
    registry.unregister('a');
    expect(before.map((tool) => tool.name)).toEqual(['a']);
  });
});

describe('replacing many', () => {
  it('is one change with one notice', () => {
    const registry = createToolRegistry();
    registry.register(definition('old'), executor());
    const versions: number[] = [];
    registry.onChange(() => versions.push(registry.version));
    const refused = registry.replace({
      remove: ['old', 'unknown'],
      add: [definition('x'), definition('y')].map((tool) => ({
        registration: { ...tool, inputSchema: { type: 'object' } },
        executor: executor(),
      })),
    });
    expect(refused).toEqual([]);
    expect(registry.getTools().map((tool) => tool.name)).toEqual(['x', 'y']);
    expect(versions).toEqual([2]);
  });

  it('returns what it could not add because the name is taken, and keeps the owner', () => {
    const registry = createToolRegistry();
    registry.register(definition('taken', 'web'), executor());
    const tool = { registration: { ...definition('taken', 'mcp:x'), inputSchema: {} }, executor: executor() };
    expect(registry.replace({ remove: [], add: [tool] })).toEqual([tool]);
    expect(registry.get('taken')?.registration.source).toBe('web');
    expect(registry.version).toBe(1);
  });
});
