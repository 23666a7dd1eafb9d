import { expect, it } from 'vitest';
import { openTools, tool } from './__fixtures__/open-tools.ts';

const doubled = tool('double', {
  inputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
});

it('runs the tools of announced servers through the bridge, with repaired arguments', async () => {
  await using world = await openTools();
  await world.connect({ s: { tools: [doubled] } });
  expect(await world.call('s__double', { n: '21' }, { caller: 'model' })).toBe('s/double ran');
  expect(world.sent).toMatchObject([{ server: 's', toolName: 'double', arguments: { n: 21 } }]);
});

it('sends nothing when a required key is missing, and answers with the form that is wanted', async () => {
  await using world = await openTools();
  await world.connect({ s: { tools: [doubled] } });
  const text = await world.call('s__double', {}, { caller: 'model' });
  expect(text).toMatch(/"n" .*Send \{"n": number\}/);
  expect(await world.call('s__double', { n: 1, extra: true }, { caller: 'model' })).toBe('s/double ran');
  expect(world.sent).toHaveLength(1);
});

it('registers the management tools with the first announcement, all at once and never twice', async () => {
  await using world = await openTools();
  expect(world.registry.getTools()).toEqual([]);
  await world.connect({});
  const names = world.registry.getTools().map(({ name }) => name);
  expect(names).toEqual([
    'mcp_find_tools',
    'mcp_get_prompt',
    'mcp_get_service_details',
    'mcp_invoke_tool',
    'mcp_list_resources',
    'mcp_list_services',
    'mcp_read_resource',
    'mcp_register_server',
    'mcp_unregister_server',
  ]);
  const { version } = world.registry;
  await world.connect({ s: {} });
  expect(world.registry.version).toBe(version);
});

it('takes its tools back when it is disposed', async () => {
  const world = await openTools();
  await world.connect({ s: { tools: [doubled] } });
  await world[Symbol.asyncDispose]();
  expect(world.registry.getTools()).toEqual([]);
});

it('runs a prompt by its typed name and lists it from then on, except in runs that are eager or off', async () => {
  const asked: unknown[] = [];
  await using world = await openTools({
    settings: { wrapperMode: 'lazy', wrapperModeByTier: { low: 'eager' } },
    manage: (messageType, body) => {
      if (messageType !== 'McpGetPrompt') return undefined;
      asked.push(body);
      const messages = [{ role: 'user', content: 'Hi.', contentType: 'text' }];
      return { messageType: 'McpPrompt', body: { serverName: 's', promptName: 'ask', messages } };
    },
  });
  const prompts = [{ name: 'ask', description: 'Asks.', arguments: [{ name: 'topic', required: true }] }];
  await world.connect({ s: { tools: [tool('a')], prompts } });
  const run = { caller: 'model', namespace: 'session/1', tier: 'high' } as const;
  expect(await world.call('s__ask-prompt', { topic: 'x' }, run)).toBe(
    '[{"role":"user","content":"Hi.","contentType":"text"}]',
  );
  expect(asked).toEqual([{ serverName: 's', promptName: 'ask', arguments: { topic: 'x' } }]);
  expect(world.toolsets.for(run).tools.at(-1)).toMatchObject({
    name: 's__ask-prompt',
    inputSchema: { type: 'object', properties: { topic: { type: 'string' } }, required: ['topic'] },
  });
  expect(await world.call('s__ask-prompt', {}, run)).toMatch(/"topic"/);
  expect(await world.call('s__ask-prompt', { topic: 'x' }, { ...run, tier: 'low' })).toMatch(/no tool named/);
  expect(world.listed({ ...run, tier: 'low' })).toEqual(['s__a']);
});
