import { expect, it } from 'vitest';
import type { ServerStatus } from '../mcp/wire/server-state.ts';
import { makeOperationDeps } from '../testing/make-operation-deps.ts';
import type { OperationDeps } from './operation-deps.ts';
import { serversList, serversRefresh, serversShow } from './servers.ts';

const statusOf = (name: string, more: Partial<ServerStatus> = {}): ServerStatus => ({
  name,
  id: '0123456789ab',
  state: 'connected',
  transport: 'streamable-http',
  protocolVersion: '2026-07-28',
  tools: 1,
  prompts: 0,
  resources: 0,
  fingerprint: 'f',
  origin: 'operator',
  ...more,
});
const wiki = statusOf('wiki');
const down = statusOf('down', { state: 'unreachable', protocolVersion: null, fingerprint: null, lastError: 'refused' });

const withServers = (refreshed: (string | undefined)[] = []): OperationDeps =>
  makeOperationDeps([], {
    servers: {
      list: () => [wiki, down],
      details: async (name) =>
        name === 'down'
          ? undefined
          : {
              server: { name, id: wiki.id, implementationName: 'wikid', version: '2' },
              tools: [{ name: 'search', inputSchema: { type: 'object' } }],
              prompts: [],
              resourceCount: 0,
              resourceTemplateCount: 0,
            },
      refresh: async (name) => void refreshed.push(name),
    },
  });

it('lists servers as they stand, and none where no bridge is in use', async () => {
  const listed = await serversList.handler({}, withServers(), {});
  expect(listed).toEqual({ servers: [wiki, down] });
  expect(serversList.output.safeParse(listed).error).toBeUndefined();
  expect(await serversList.handler({}, makeOperationDeps(), {})).toEqual({ servers: [] });
});

it('shows what a server offers, and of one that was never connected only its state', async () => {
  const shown = await serversShow.handler({ name: 'wiki' }, withServers(), {});
  expect(shown).toMatchObject({ server: wiki, identity: { implementationName: 'wikid' }, tools: [{ name: 'search' }] });
  expect(serversShow.output.safeParse(shown).error).toBeUndefined();
  expect(await serversShow.handler({ name: 'down' }, withServers(), {})).toEqual({
    server: down,
    identity: null,
    tools: [],
    prompts: [],
  });
});

it('refreshes one server, or all, and gives their states', async () => {
  const refreshed: (string | undefined)[] = [];
  const deps = withServers(refreshed);
  expect(await serversRefresh.handler({ name: 'down' }, deps, {})).toEqual({ servers: [down] });
  expect(await serversRefresh.handler({}, deps, {})).toEqual({ servers: [wiki, down] });
  expect(refreshed).toEqual(['down', undefined]);
});

it.each([
  ['wikki', 'did you mean "wiki"?'],
  ['zzzzzz', 'known: wiki, down.'],
])('refuses the unknown server "%s"', async (name, hint) => {
  const refusal = expect.objectContaining({ code: 'server_unknown', message: expect.stringContaining(hint) });
  await expect(serversShow.handler({ name }, withServers(), {})).rejects.toEqual(refusal);
  await expect(serversRefresh.handler({ name }, withServers(), {})).rejects.toEqual(refusal);
});

it('says where servers go when there is none', async () => {
  await expect(serversShow.handler({ name: 'wiki' }, makeOperationDeps(), {})).rejects.toThrow('add it to mcp.json');
});
