import { expect, it } from 'vitest';
import { silentLog } from '../../kernel/log.ts';
import { fakeTypedTools } from '../../testing/fake-typed-tools.ts';
import { registryOf } from '../../testing/make-invoker.ts';
import { defineTool } from '../../tool/define-tool.ts';
import { toRegistration } from '../../tool/registration.ts';
import { createToolsets } from '../../toolset/toolset.ts';
import { createToolPages } from './tool-pages.ts';
import type { Visitor } from './visitor.ts';
import { contextOf } from './visitor.ts';

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
  return { registry, toolsets, pages: createToolPages(toolsets) };
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
  expect(pages.page({ mode: 'eager', connection: 'c' }, undefined)).toBe(first);
  const { registration, executor } = tool('b');
  registry.register(registration, executor);
  expect(names(pages.page({ mode: 'auto' }, undefined))).toEqual(['a', 'b']);
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

it('shows each session what its mode and its own calls bring, and keeps the pages of the others', async () => {
  const { executor } = tool('x');
  const registration = toRegistration({ name: 'w__s', description: 'd', source: 'mcp:w' });
  const { pages, toolsets } = open();
  toolsets.offer(fakeTypedTools({ registration, executor }));
  const pinned = (connection: string): Visitor => ({ mode: 'pinned', connection });
  expect(names(pages.page({ mode: 'off' }, undefined))).toEqual(['a']);
  expect(names(pages.page({ mode: 'eager' }, undefined))).toEqual(['a', 'w__s']);
  const other = pages.page(pinned('2'), undefined);
  const context = contextOf(pinned('1'));
  await toolsets
    .find('w__s', context)
    ?.executor.execute({ id: '1', name: 'w__s', arguments: {}, registration }, context);
  expect(names(pages.page(pinned('1'), undefined))).toEqual(['a', 'w__s']);
  expect(pages.page(pinned('2'), undefined)).toBe(other);
});
