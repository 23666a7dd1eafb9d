import { expect, it } from 'vitest';
import { orderPlugins } from './order.ts';
import type { Plugin } from './plugin.ts';

const plugin = (name: string, ...needs: string[]): Plugin => ({ name, needs, setup: () => {} });
const order = (...plugins: Plugin[]): string[] => orderPlugins(plugins).map((each) => each.name);

it('puts each plugin behind what it needs and otherwise keeps the given order', () => {
  expect(order(plugin('search', 'mcp', 'a2a'), plugin('web'), plugin('a2a'), plugin('mcp'))).toEqual([
    'mcp',
    'a2a',
    'search',
    'web',
  ]);
});

it('names both sides of a need that nobody meets', () => {
  expect(() => order(plugin('search', 'mcp'))).toThrow(/"search" needs plugin "mcp", which is not used/);
});

it('names both sides of a circular need, and the way round', () => {
  expect(() => order(plugin('a', 'b'), plugin('b', 'c'), plugin('c', 'a'))).toThrow(
    /"c" and "a" need each other \(a → b → c → a\)/,
  );
});

it('refuses a plugin that needs itself', () => {
  expect(() => order(plugin('a', 'a'))).toThrow(/need each other/);
});

it('refuses a plugin that is used twice', () => {
  expect(() => order(plugin('a'), plugin('a'))).toThrow(/"a" is used twice/);
});
