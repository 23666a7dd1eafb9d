/** A client of the MCP SDK that uses Gantry as its one server: here as a program, the same over HTTP. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
// #region connect
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
// #endregion

const folder = await mkdtemp(join(tmpdir(), 'gantry-example-'));
await writeFile(join(folder, 'mcp.json'), '{"mcpServers": {}}');
const gantry = fileURLToPath(new URL('../../gantry/bin/gantry.js', import.meta.url));
const [command, ...args] = [
  process.execPath,
  gantry,
  'mcp',
  '--data',
  join(folder, 'data'),
  '--mcp',
  join(folder, 'mcp.json'),
];

const client = new Client({ name: 'my-agent', version: '1.0.0' });
await client.connect(new StdioClientTransport({ command, args }));
// #region use
const { tools } = await client.listTools();
const result = await client.callTool({ name: 'list_tool_guides', arguments: {} });
// #endregion
await client.close();
await rm(folder, { recursive: true, force: true });

assert.ok(tools.some(({ name }) => name === 'list_tool_guides'));
assert.match(JSON.stringify(result.content), /tool guide/);
