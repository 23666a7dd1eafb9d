/** MCP servers behind Gantry. The server of this example runs inside it. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { createGantry, outcomeText } from 'gantry';
import { mcp, mcpServers } from 'gantry/mcp';
import * as z from 'zod';

const handler = createMcpHandler(() => {
  const server = new McpServer({ name: 'weather', version: '1.0.0' });
  server.registerTool(
    'forecast',
    { description: 'The weather of tomorrow.', inputSchema: z.object({ city: z.string() }) },
    ({ city }) => ({ content: [{ type: 'text', text: `Sunny in ${city}.` }] }),
  );
  return server;
});
const serve = toNodeHandler(handler);
const http = createServer((request, response) => void serve(request as Parameters<typeof serve>[0], response));
await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
const folder = await mkdtemp(join(tmpdir(), 'gantry-example-'));
const mcpFile = join(folder, 'mcp.json');
const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;

await writeFile(mcpFile, JSON.stringify({ mcpServers: { weather: { url } } }));
{
  // #region use
  await using gantry = await createGantry({ dataDir: ':memory:' })
    .use(mcp({ config: mcpFile }))
    .start();

  // Servers connect behind the start, all at once. A program that needs them at once waits:
  await gantry.service(mcpServers)?.ready();

  // Each tool of a server is a tool of its own, named {server}__{tool}.
  const outcome = await gantry.call('weather__forecast', { city: 'Bern' });
  console.log(outcomeText(outcome)); // Sunny in Bern.
  // #endregion

  assert.equal(outcomeText(outcome), 'Sunny in Bern.');
  assert.deepEqual(
    gantry
      .service(mcpServers)
      ?.servers()
      .map(({ name, state, tools }) => ({ name, state, tools })),
    [{ name: 'weather', state: 'connected', tools: 1 }],
  );
}
await handler.close();
http.closeAllConnections();
http.close();
await rm(folder, { recursive: true });
