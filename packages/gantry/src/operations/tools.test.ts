import * as z from 'zod';
import { expect, it } from 'vitest';
import { makeOperationDeps } from '../testing/make-operation-deps.ts';
import { defineTool } from '../tool/define-tool.ts';
import type { Tool } from '../tool/executor.ts';
import type { ToolRegistration } from '../tool/registration.ts';
import { toolsList, toolsShow } from './tools.ts';

const toolOf = (name: string, source: string, more: Partial<ToolRegistration> = {}): Tool =>
  defineTool({ name, description: `Does ${name}.`, source, execute: () => 'done', ...more });

const hidden = toolOf('z_hidden', 'a', { available: () => false });
const deps = makeOperationDeps([toolOf('b_tool', 'web'), hidden, toolOf('a_tool', 'web'), toolOf('c_tool', 'a')]);
const namesOf = async (input: Parameters<typeof toolsList.handler>[0]): Promise<string[]> =>
  (await toolsList.handler(input, deps, {})).tools.map((tool) => tool.name);

it.each([
  [{}, ['c_tool', 'a_tool', 'b_tool']],
  [{ all: true }, ['c_tool', 'z_hidden', 'a_tool', 'b_tool']],
  [{ source: 'web' }, ['a_tool', 'b_tool']],
  [{ source: 'a', all: true }, ['c_tool', 'z_hidden']],
  [{ source: 'nowhere' }, []],
])('lists for %j, by source and then name', async (input, names) => {
  expect(await namesOf(input)).toEqual(names);
});

it('lists exactly the four members that scripts rely on', async () => {
  const { tools } = await toolsList.handler({ source: 'a' }, deps, {});
  expect(tools).toEqual([
    { name: 'c_tool', description: 'Does c_tool.', source: 'a', inputSchema: { type: 'object', properties: {} } },
  ]);
  expect(toolsList.output.parse({ tools })).toEqual({ tools });
});

it('shows a tool with its schemas, hints, target and the guide of its family', async () => {
  const tool = defineTool({
    name: 'wiki__search',
    title: 'Search',
    description: 'Searches.',
    source: 'mcp:wiki',
    annotations: { readOnlyHint: true },
    target: { server: 'wiki', tool: 'search' },
    input: z.strictObject({ query: z.string() }),
    output: z.strictObject({ hits: z.number() }),
    execute: () => ({ hits: 1 }),
  });
  const wiki = makeOperationDeps([tool]);
  wiki.guides.add({ name: 'mcp', summary: 's', getDocument: () => 'd' });
  const shown = await toolsShow.handler({ name: 'wiki__search' }, wiki, {});
  expect(shown).toMatchObject({
    title: 'Search',
    source: 'mcp:wiki',
    annotations: { readOnlyHint: true },
    target: { server: 'wiki', tool: 'search' },
    guide: 'mcp',
    available: true,
    inputSchema: { required: ['query'] },
    outputSchema: { required: ['hits'] },
  });
  expect(toolsShow.output.safeParse(shown).error).toBeUndefined();
});

it('shows a tool that is not offered now, and says so', async () => {
  expect(await toolsShow.handler({ name: 'z_hidden' }, deps, {})).toMatchObject({ available: false, guide: undefined });
});

it.each([
  ['a_tol', 'Did you mean a_tool'],
  ['qqqqqqqqqq', 'List the tools'],
])('refuses to show "%s" and says what there is', (name, hint) => {
  expect(() => toolsShow.handler({ name }, deps, {})).toThrow(
    expect.objectContaining({ code: 'tool_not_found', message: expect.stringContaining(hint) }),
  );
});
