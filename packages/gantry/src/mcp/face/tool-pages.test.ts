import { expect, it } from 'vitest';
import { silentLog } from '../../kernel/log.ts';
import { registryOf } from '../../testing/make-invoker.ts';
import { defineTool } from '../../tool/define-tool.ts';
import { createToolsets } from '../../toolset/toolset.ts';
import { createToolPages } from './tool-pages.ts';

const tool = (name: string, available?: (client: string | undefined) => boolean) =>
  defineTool({
    name,
    description: name,
    execute: () => '',
    available: available && (({ client }) => available(client)),
  });

const open = () => {
  const registry = registryOf(
    tool('a'),
    tool('alices', (client) => client === 'alice'),
  );
  const toolsets = createToolsets({ registry, log: silentLog });
  return { registry, pages: createToolPages(toolsets, () => registry.version) };
};

const names = ({ tools }: { tools: readonly { name: string }[] }): string[] => tools.map(({ name }) => name);

it('shows each client what it may call', () => {
  const { pages } = open();
  expect(names(pages.page({ mode: 'auto' }, undefined))).toEqual(['a']);
  expect(names(pages.page({ mode: 'auto', client: 'alice' }, undefined))).toEqual(['a', 'alices']);
  expect(names(pages.page({ mode: 'auto', client: 'bob' }, undefined))).toEqual(['a']);
});

it('gives the very same page until the registry changes', () => {
  const { pages, registry } = open();
  const first = pages.page({ mode: 'auto' }, undefined);
  expect(pages.page({ mode: 'eager' }, undefined)).toBe(first);
  const { registration, executor } = tool('b');
  registry.register(registration, executor);
  expect(names(pages.page({ mode: 'auto' }, undefined))).toEqual(['a', 'b']);
});

it('hides the tools of servers in mode off only', () => {
  const { pages, registry } = open();
  const { executor } = tool('x');
  const target = { server: 'w', tool: 's' };
  registry.register({ name: 'w__s', description: 'd', source: 'mcp:w', target }, executor);
  expect(names(pages.page({ mode: 'off' }, undefined))).toEqual(['a']);
  expect(names(pages.page({ mode: 'auto' }, undefined))).toEqual(['a', 'w__s']);
});

it('says that the schema of the arguments is an object where the server does not', () => {
  const { pages, registry } = open();
  const { executor } = tool('x');
  registry.register({ name: 'z', description: 'd', source: 'z', inputSchema: { properties: {} } }, executor);
  expect(pages.page({ mode: 'auto' }, undefined).tools.at(-1)?.inputSchema).toEqual({ type: 'object', properties: {} });
});

it('refuses a cursor', () => {
  const { pages } = open();
  expect(() => pages.page({ mode: 'auto' }, 'x')).toThrow(/one page/);
});
