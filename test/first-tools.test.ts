import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig, silentLog } from 'gantry';
import { expect, it } from 'vitest';
import type { Assembled } from '../packages/gantry/src/host/assemble.ts';
import { assemble } from '../packages/gantry/src/host/assemble.ts';
import { toolsCall } from '../packages/gantry/src/operations/tools-call.ts';
import { RpcError, startRawServer, toolNamed, written } from './fixtures/raw-server.ts';

const ask = async ({ face }: Assembled, method: string, params: object = {}): Promise<unknown> => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2025-11-25',
  };
  const response = await face.handleHttp(
    new Request('http://127.0.0.1/mcp?mode=eager', { method: 'POST', headers, body }),
  );
  const [, data = ''] = /^data: (.*)$/m.exec(await response.text()) ?? [];
  return (JSON.parse(data) as { readonly result?: unknown }).result;
};
const listOf = async (gantry: Assembled): Promise<string[]> => {
  const { tools } = (await ask(gantry, 'tools/list')) as { tools: { name: string }[] };
  return tools.map(({ name }) => name).filter((name) => name.includes('__'));
};
const callOf = (gantry: Assembled, name: string, args: object): Promise<unknown> =>
  ask(gantry, 'tools/call', { name, arguments: args });

it('shows at once what a server offered the last time, however long it takes to connect now', async () => {
  let hangs = false;
  await using server = await startRawServer({
    'tools/list': () => ({ tools: [toolNamed('known')] }),
    'server/discover': () => {
      if (hangs) return written;
      throw new RpcError(-32_601, 'Method not found');
    },
  });
  const folder = await mkdtemp(join(tmpdir(), 'gantry-first-'));
  await writeFile(join(folder, 'mcp.json'), JSON.stringify({ mcpServers: { s: { url: server.url } } }));
  const { config } = await loadConfig({ flags: { dataDir: join(folder, 'data') }, env: {}, cwd: folder });
  const start = (): Promise<Assembled> =>
    assemble(config, { log: silentLog, cwd: folder, env: {}, firstToolsPatienceMs: 2 ** 30 });
  {
    await using first = await start();
    expect(await listOf(first)).toEqual(['s__known']);
  }
  hangs = true;
  await using second = await start();
  expect(second.servers.servers()).toMatchObject([{ name: 's', state: 'connecting' }]);
  // It would wait for days if it waited for the server.
  expect(await listOf(second)).toEqual(['s__known']);
  await rm(folder, { recursive: true });
});

it('has a call right after the start wait for its tool, at the API as at /mcp', async () => {
  const asked = Promise.withResolvers<void>();
  await using server = await startRawServer({
    'tools/list': async () => {
      await asked.promise;
      return { tools: [toolNamed('echo')] };
    },
  });
  const folder = await mkdtemp(join(tmpdir(), 'gantry-first-'));
  await writeFile(join(folder, 'mcp.json'), JSON.stringify({ mcpServers: { s: { url: server.url } } }));
  const { config } = await loadConfig({ flags: { dataDir: join(folder, 'data') }, env: {}, cwd: folder });
  {
    await using gantry = await assemble(config, { log: silentLog, cwd: folder, env: {} });
    const calls: Promise<unknown>[] = [
      Promise.resolve(toolsCall.handler({ name: 's__echo', arguments: { a: 1 } }, gantry.deps, {})),
      callOf(gantry, 's__echo', { a: 1 }),
    ];
    asked.resolve();
    for (const called of await Promise.all(calls)) expect(JSON.stringify(called)).toContain('{\\"a\\":1}');
  }
  await rm(folder, { recursive: true });
});
