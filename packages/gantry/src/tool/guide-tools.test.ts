import { expect, it } from 'vitest';
import type { Tool } from './executor.ts';
import type { GuideShelf } from './guide.ts';
import { createGuideShelf } from './guide.ts';
import { guideTools } from './guide-tools.ts';
import { outcomeText } from './outcome-text.ts';

const run = async (shelf: GuideShelf, name: string, args: Record<string, string> = {}): Promise<string> => {
  const tool = guideTools(shelf).find((candidate) => candidate.registration.name === name) as Tool;
  const call = { id: '1', name, arguments: args, registration: tool.registration };
  const outcome = await tool.executor.execute(call, { caller: 'model' });
  expect(outcome.status).toBe('done');
  return outcomeText(outcome);
};

const shelfOf = (...names: string[]): GuideShelf => {
  const shelf = createGuideShelf();
  for (const name of names) shelf.add({ name, summary: `All about ${name}.`, getDocument: () => `# ${name}` });
  return shelf;
};

it('lists the guides sorted by name under their count', async () => {
  expect(await run(shelfOf('web', 'mcp'), 'list_tool_guides')).toBe(
    '2 tool guide(s):\n- mcp: All about mcp.\n- web: All about web.',
  );
});

it('says plainly that there are none', async () => {
  expect(await run(createGuideShelf(), 'list_tool_guides')).toBe('No tool guides are registered.');
});

it('finds a guide whatever the case of its name', async () => {
  expect(await run(shelfOf('mcp'), 'get_tool_guide', { name: 'MCP' })).toBe('# mcp');
});

it('makes the document when it is asked for', async () => {
  const shelf = createGuideShelf();
  let reads = 0;
  shelf.add({ name: 'n', summary: 's', getDocument: () => `read ${(reads += 1)}` });
  await run(shelf, 'get_tool_guide', { name: 'n' });
  expect(await run(shelf, 'get_tool_guide', { name: 'n' })).toBe('read 2');
});

it('names the guides there are when one is unknown, which is no error', async () => {
  expect(await run(shelfOf('web', 'mcp'), 'get_tool_guide', { name: 'x' })).toBe(
    'There is no tool guide named "x". Available guides: mcp, web.',
  );
});

it('refuses two guides whose names differ only in case', () => {
  const shelf = shelfOf('mcp');
  expect(() => shelf.add({ name: 'MCP', summary: '', getDocument: () => '' })).toThrow(
    /Two tool guides are named "MCP"/,
  );
});
