import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { Gantry } from '../packages/gantry/src/host/create-gantry.ts';
import { createGantry } from '../packages/gantry/src/host/create-gantry.ts';
import type { McpServers } from '../packages/gantry/src/host/plugins/mcp.ts';
import { agent } from '../packages/gantry/src/host/plugins/agent.ts';
import { mcp, mcpServers } from '../packages/gantry/src/host/plugins/mcp.ts';
import type { JsonObject } from '../packages/gantry/src/kernel/json.ts';
import { silentLog } from '../packages/gantry/src/kernel/log.ts';
import type { Plugin } from '../packages/gantry/src/plugin/plugin.ts';
import { defineTool } from '../packages/gantry/src/tool/define-tool.ts';
import { outcomeText } from '../packages/gantry/src/tool/outcome-text.ts';
import { web } from '../packages/gantry/src/web/web.ts';
import { offeredTools } from './fixtures/model-loop.ts';
import { startModel } from './fixtures/model-server.ts';
import type { RawServer } from './fixtures/raw-server.ts';
import { startRawServer, toolNamed } from './fixtures/raw-server.ts';

let open = new AsyncDisposableStack();
afterEach(async () => {
  await open.disposeAsync();
  open = new AsyncDisposableStack();
});

const serverOf = async (...tools: readonly string[]): Promise<RawServer> =>
  open.use(await startRawServer({ 'tools/list': () => ({ tools: tools.map((name) => toolNamed(name)) }) }));

interface Lab {
  readonly gantry: Gantry;
  readonly servers: McpServers;
  /** What a model is shown of the web, of the test and of servers, management aside. */
  listed(): readonly string[];
  call(name: string, args?: JsonObject, namespace?: string): Promise<string>;
}

const bundled = ['fetch_url', 'web_browse', 'web_search'];
const manageMessage = defineTool({
  name: 'manage_message',
  description: 'Bundled.',
  source: 'web',
  execute: () => 'bundled',
});

/** A Gantry with the web, a tool of its own called `manage_message`, and these servers. */
const start = async (entries: Readonly<Record<string, object>>, more: readonly Plugin[] = []): Promise<Lab> => {
  const folder = await mkdtemp(join(tmpdir(), 'gantry-families-'));
  open.defer(() => rm(folder, { recursive: true }));
  const config = join(folder, 'mcp.json');
  await writeFile(config, JSON.stringify({ mcpServers: entries }));
  const gantry = open.use(
    await createGantry({ dataDir: ':memory:', log: silentLog })
      .use(mcp({ config }), web(), ...more)
      .start(),
  );
  gantry.tools.register(manageMessage.registration, manageMessage.executor);
  const servers = gantry.service(mcpServers);
  if (!servers) throw new TypeError('there are no servers');
  await servers.ready();
  const context = { caller: 'model' } as const;
  return {
    gantry,
    servers,
    listed: () =>
      gantry.toolsets
        .for(context)
        .tools.filter(({ name, source }) => source === 'web' || name.includes('__'))
        .map(({ name }) => name),
    call: async (name, args = {}, namespace?: string) =>
      outcomeText(await gantry.invoker.invoke({ name, arguments: args }, { ...context, namespace })),
  };
};

describe('a server of the family url_fetcher', () => {
  it('takes the place of fetch_url and of nothing else, however tools of servers are called', async () => {
    const [reader, notes] = [await serverOf('fetch'), await serverOf('manage_message', 'lookup_notes')];
    const lab = await start({ reader: { url: reader.url, family: 'url_fetcher' }, notes: { url: notes.url } });
    expect(lab.listed()).toEqual([
      'manage_message',
      'web_browse',
      'web_search',
      'notes__lookup_notes',
      'notes__manage_message',
      'reader__fetch',
    ]);
    expect(await lab.call('manage_message')).toBe('bundled');
    for (const name of ['fetch_url', 'fetch', 'fetch-url']) expect(await lab.call(name)).toContain('reader__fetch');
    expect(await lab.call('fetch_url')).toContain('Server "reader" does this now: call reader__fetch.');
    expect(reader.count('tools/call')).toBe(0);
  });

  it.each([
    ['is down', { url: 'http://127.0.0.1:9/mcp' }],
    ['has all of its tools filtered', { deniedTools: ['fetch'] }],
    ['is disabled', { disabled: true }],
  ])('leaves fetch_url where it is when it %s', async (_what, change) => {
    const reader = await serverOf('fetch');
    const lab = await start({ reader: { url: reader.url, family: 'url_fetcher', ...change } });
    expect(lab.listed()).toEqual(['fetch_url', 'manage_message', 'web_browse', 'web_search']);
  });

  it('gives fetch_url back when its calls find that it is gone, though what it offered is known', async () => {
    const reader = await startRawServer({ 'tools/list': () => ({ tools: [toolNamed('fetch')] }) });
    const lab = await start({ reader: { url: reader.url, family: 'url_fetcher' } });
    expect(lab.listed()).not.toContain('fetch_url');
    const before = lab.gantry.toolsets.stamp({ caller: 'model' });
    await reader[Symbol.asyncDispose]();
    await lab.call('reader__fetch');
    expect(lab.listed()).toContain('fetch_url');
    expect(lab.gantry.toolsets.stamp({ caller: 'model' })).not.toBe(before);
  });

  it('comes and goes with its switch, and tells of it', async () => {
    const reader = await serverOf('fetch');
    const lab = await start({ reader: { url: reader.url, family: 'url_fetcher' } });
    let told = 0;
    lab.gantry.toolsets.onChange(() => (told += 1));
    await lab.servers.setEnabled('reader', false);
    expect(lab.listed()).toEqual(expect.arrayContaining(bundled));
    expect(told).toBeGreaterThan(0);
    await lab.servers.setEnabled('reader', true);
    expect(lab.listed()).not.toContain('fetch_url');
  });
});

it('takes the place of web_search as a server of that family', async () => {
  const search = await serverOf('query');
  const lab = await start({ search: { url: search.url, family: 'web_search' } });
  expect(lab.listed()).toEqual(['fetch_url', 'manage_message', 'web_browse', 'search__query']);
  expect(await lab.call('web_search')).toContain('Server "search" does this now: call search__query.');
});

it('is what the guide of the web and a long page name in place of the bundled tools', async () => {
  const [reader, search] = [await serverOf('fetch'), await serverOf('query')];
  const lab = await start({
    reader: { url: reader.url, family: 'url_fetcher' },
    search: { url: search.url, family: 'web_search' },
  });
  const guide = await lab.call('get_tool_guide', { name: 'web' });
  expect(guide).toContain('Search, without web_search. Server "search" does this now: call search__query.');
  expect(guide).toContain('without fetch_url. Server "reader" does this now: call reader__fetch.');
  expect(guide).not.toMatch(/(?:fetch_url|web_search)\(|category: "image"/);
  await lab.servers.setEnabled('reader', false);
  const again = await lab.call('get_tool_guide', { name: 'web' });
  expect(again).toContain('`fetch_url(url, start_index?');
  expect(again).not.toContain('reader__fetch');
});

describe('a run that was given the bundled tool by name', () => {
  it('keeps it, and gets nothing of the server', async () => {
    const reader = await serverOf('fetch');
    const model = open.use(await startModel([{ text: 'read' }]));
    const balanced = { provider: 'openai-compatible', endpoint: model.endpoint, modelId: 'scripted' } as const;
    const lab = await start({ reader: { url: reader.url, family: 'url_fetcher' } }, [
      agent({ models: { balanced }, behaviors: { scripted: {} } }),
    ]);
    const definitions = { description: 'd', tools: ['fetch_url'], steps: [{ id: 'a', mode: 'Llm', prompt: 'Read.' }] };
    expect(await lab.call('spawn_wisps', { definitions }, 'session/s1')).toContain('1 succeeded');
    const [offered] = model.requests.map(offeredTools);
    expect(offered).toContain('fetch_url');
    expect(offered?.filter((name) => name.includes('__'))).toEqual([]);
  });
});

it('refuses an entry of a family that does not exist, and names those that do', async () => {
  const reader = await serverOf('fetch');
  const lab = await start({ reader: { url: reader.url, family: 'mail' } });
  expect(lab.servers.servers()[0]?.lastError).toBe(
    'mcp.json: mcpServers.reader.family: must be "url_fetcher" or "web_search".',
  );
  expect(lab.listed()).toContain('fetch_url');
});
