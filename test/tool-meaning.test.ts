import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGantry, silentLog } from 'gantry';
import type { EmbeddingModel } from 'gantry/mcp';
import { mcp, mcpServers } from 'gantry/mcp';
import { expect, it } from 'vitest';
import { startRawServer, toolNamed } from './fixtures/raw-server.ts';

it('finds a tool of a real server by what it means, and after a restart without reading it again', async () => {
  await using server = await startRawServer({
    'tools/list': () => ({ tools: [toolNamed('qorvex'), toolNamed('other')] }),
  });
  const folder = await mkdtemp(join(tmpdir(), 'gantry-meaning-'));
  const config = join(folder, 'mcp.json');
  await writeFile(config, JSON.stringify({ mcpServers: { s: { url: server.url } } }));

  const read: string[] = [];
  const embedding: EmbeddingModel = {
    id: 'test',
    embed: async (texts) => {
      read.push(...texts);
      return texts.map((text) => Float32Array.of(1, /qorvex|shiny surface/.test(text) ? 1 : -1));
    },
  };
  const found = async (): Promise<string | undefined> => {
    await using gantry = await createGantry({ dataDir: join(folder, 'data'), cwd: folder, log: silentLog })
      .use(mcp({ config, embedding }))
      .start();
    const servers = gantry.service(mcpServers);
    await servers?.ready();
    // Tools are read in the background; the test's own time-out ends a search that never finds.
    for (;;) {
      const [first] = (await servers?.findTools('shiny surface', 5, { caller: 'operator' })) ?? [];
      if (first) return first.entry.name;
      await new Promise(setImmediate);
    }
  };
  expect(await found()).toBe('qorvex');
  expect(read.filter((text) => text.startsWith('s: '))).toHaveLength(2);
  read.length = 0;
  expect(await found()).toBe('qorvex');
  expect(read).toEqual(['shiny surface']);
  await rm(folder, { recursive: true });
});
