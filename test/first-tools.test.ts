import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig, silentLog } from 'gantry';
import { expect, it } from 'vitest';
import type { Assembled } from '../packages/gantry/src/host/assemble.ts';
import { assemble } from '../packages/gantry/src/host/assemble.ts';
import { RpcError, startRawServer, toolNamed, written } from './fixtures/raw-server.ts';

const listOf = async ({ face }: Assembled): Promise<string[]> => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2025-11-25',
  };
  const response = await face.handleHttp(
    new Request('http://127.0.0.1/mcp?mode=eager', { method: 'POST', headers, body }),
  );
  const [, data = ''] = /^data: (.*)$/m.exec(await response.text()) ?? [];
  const { result } = JSON.parse(data) as { result: { tools: { name: string }[] } };
  return result.tools.map(({ name }) => name).filter((name) => name.includes('__'));
};

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
