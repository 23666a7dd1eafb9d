import { fileURLToPath } from 'node:url';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { expect, it } from 'vitest';
import { makeGantryFolder } from './fixtures/gantry-process.ts';
import { sendNewer } from './fixtures/newer-request.ts';
import { startOlderTaskServer } from './fixtures/older-task-server.ts';
import { startRawServer, written } from './fixtures/raw-server.ts';
import { startTaskServer } from './fixtures/task-server.ts';

const program = fileURLToPath(new URL('./fixtures/older-task-program.ts', import.meta.url));
const stopping = 'Gantry is stopping';

it('tells whoever waits for a server that the gateway stops, and cancels the tasks that it follows', async () => {
  using folder = makeGantryFolder();
  await using older = await startOlderTaskServer();
  await using newer = await startTaskServer({ legacy: 'reject' });
  await using silent = await startRawServer({ 'tools/call': () => written });
  await using begun = await startRawServer({
    'tools/call': (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: {"jsonrpc":"2.0","method":');
      return written;
    },
  });
  folder.write('gantry.config.json', { mcp: { stdio: 'launch' } });
  folder.write('mcp.json', {
    mcpServers: {
      older: { url: older.url },
      newer: { url: newer.url },
      silent: { url: silent.url },
      begun: { url: begun.url },
      program: { command: process.execPath, args: [program] },
    },
  });
  await using gateway = await folder.serve();
  const ofOlder = async (server: string, name: string): Promise<unknown> => {
    const client = new OldClient({ name: 't', version: '1' }, { capabilities: {} });
    await client.connect(new OldTransport(new URL(`${gateway.url}/mcp/${server}`)));
    return await client.callTool({ name, arguments: {} }).catch((error: unknown) => String(error));
  };
  const ofNewer = (server: string, name: string, can: object): Promise<unknown> =>
    sendNewer(`${gateway.url}/mcp/${server}`, 'tools/call', { name, arguments: {} }, { can });
  const forms = { elicitation: { form: {} } };
  const calls = [
    ofNewer('older', 'forever', forms),
    ofNewer('older', 'forever', {}),
    ofNewer('program', 'forever', forms),
    ofNewer('program', 'forever', {}),
    ofNewer('silent', 'a', forms),
    ofNewer('silent', 'a', {}),
    ofOlder('newer', 'strict'),
    ofOlder('silent', 'a'),
    ofOlder('begun', 'a'),
  ];
  await Promise.all([silent.until('tools/call', 3), begun.until('tools/call'), newer.until('tools/call', 2)]);
  await expect.poll(() => older.tasks().length).toBe(2);
  expect(await gateway.stop('SIGTERM')).toBe(0);
  for (const answer of await Promise.all(calls)) expect(JSON.stringify(answer)).toContain(stopping);
  await expect.poll(() => older.tasks().map(({ status }) => status)).toEqual(['cancelled', 'cancelled']);
  await expect.poll(() => newer.cancelled).toHaveLength(1);
});
