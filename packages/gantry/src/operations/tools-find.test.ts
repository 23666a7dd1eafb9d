import { expect, it } from 'vitest';
import { makeOperationDeps } from '../testing/make-operation-deps.ts';
import { toRegistration } from '../tool/registration.ts';
import type { FoundTool } from './operation-deps.ts';
import { toolsFind } from './tools-find.ts';

const found: FoundTool = {
  score: 3.5,
  entry: {
    server: 'wiki',
    name: 'search.pages',
    tool: {
      registration: toRegistration({ name: 'wiki__search-pages', description: '[wiki] Finds.', source: 'mcp:wiki' }),
    },
  },
};

it('gives what the search finds, ten at most unless told otherwise', async () => {
  const asked: unknown[] = [];
  const deps = makeOperationDeps([], {
    findTools: async (query, limit, { caller }) => {
      asked.push([query, limit, caller]);
      return [found];
    },
  });
  expect(await toolsFind.handler({ query: 'find' }, deps, {})).toEqual({
    query: 'find',
    tools: [
      {
        name: 'wiki__search-pages',
        server: 'wiki',
        tool: 'search.pages',
        score: 3.5,
        description: '[wiki] Finds.',
        inputSchema: { type: 'object', properties: {} },
      },
    ],
  });
  await toolsFind.handler({ query: 'find', limit: 3 }, deps, {});
  expect(asked).toEqual([
    ['find', 10, 'operator'],
    ['find', 3, 'operator'],
  ]);
});

it('finds nothing where no servers are in use', async () => {
  expect(await toolsFind.handler({ query: 'find' }, makeOperationDeps(), {})).toEqual({ query: 'find', tools: [] });
});
