import { PassThrough } from 'node:stream';
import { once } from 'node:events';
import { Server } from '@modelcontextprotocol/server';
import { expect, it } from 'vitest';
import type { Log } from '../../kernel/log.ts';
import { silentLog } from '../../kernel/log.ts';
import { serveStdio } from './serve-stdio.ts';

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } },
};

it('answers a message that is too long with an error, says so, and goes on', async () => {
  const input = new PassThrough();
  const output = new PassThrough({ encoding: 'utf8' });
  const warnings: string[] = [];
  const log: Log = { ...silentLog, warn: (_facts, message) => void warnings.push(message) };
  const open = () => new Server({ name: 's', version: '1' }, { capabilities: {} });
  await using connection = serveStdio(open, { input, output, log, maxBytes: 1_000 });
  const next = async (): Promise<unknown> => JSON.parse(String((await once(output, 'data'))[0]));
  const first = next();
  input.write(`${JSON.stringify(initialize)}\n`);
  expect(await first).toMatchObject({ id: 1, result: { serverInfo: { name: 's' } } });
  const second = next();
  const long = { method: 'tools/call', params: { name: 'x'.repeat(2_000) }, jsonrpc: '2.0', id: 2 };
  input.write(`${JSON.stringify(long)}\n`);
  expect(await second).toMatchObject({
    id: 2,
    error: { code: -32_600, message: expect.stringContaining('1000 bytes') as string },
  });
  expect(warnings).toHaveLength(1);
  const third = next();
  input.write(`${JSON.stringify({ jsonrpc: '2.0', id: 3, method: 'ping' })}\n`);
  expect(await third).toMatchObject({ id: 3, result: {} });
  input.end();
  await connection.closed;
});
