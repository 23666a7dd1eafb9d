import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { GantryFolder, ServingGantry } from './fixtures/gantry-process.ts';
import { makeGantryFolder } from './fixtures/gantry-process.ts';
import { startModernServer } from './fixtures/modern-server.ts';
import type { SlowServer } from './fixtures/slow-server.ts';
import { startSlowServer } from './fixtures/slow-server.ts';

let folder: GantryFolder;
beforeEach(() => {
  folder = makeGantryFolder();
});
afterEach(() => folder[Symbol.dispose]());

it('says in one line that it is ready and explains in three more, then stops in order', async () => {
  await using gateway = await folder.serve();
  const lines = gateway
    .stderr()
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('{'));
  expect(lines[0]).toContain(`ready at ${gateway.url}`);
  expect(lines).toHaveLength(4);
  expect(lines.join(' ')).toContain('mcp.json');
  expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200);
  expect(await gateway.stop('SIGINT')).toBe(0);
});

it.runIf(process.env['GANTRY_TEST_BUILD'])(
  'connects to servers and answers clients without the HTTP libraries of Node that it does not use, which are megabytes',
  async () => {
    await using server = await startModernServer();
    folder.write('mcp.json', { mcpServers: { demo: { url: server.url } } });
    folder.write(
      'tell-loaded.mjs',
      `process.on('exit', () => console.error('loaded', JSON.stringify(process.moduleLoadList)));`,
    );
    const preload = pathToFileURL(join(folder.path, 'tell-loaded.mjs')).href;
    await using gateway = await folder.serve(undefined, { NODE_OPTIONS: `--import=${preload}` });
    const call = ['tools', 'call', 'demo__echo', '--args', '{"text": "through"}', '--url', gateway.url];
    expect(await folder.json(['servers', 'refresh', 'demo', '--url', gateway.url])).toMatchObject([0, {}]);
    expect(await folder.json(call)).toMatchObject([0, { status: 'done' }]);
    await gateway.stop('SIGINT');
    const loaded = JSON.parse(/^loaded (.+)$/m.exec(gateway.stderr())?.[1] ?? '') as string[];
    expect(loaded).toContain('NativeModule http');
    expect(loaded.filter((name) => /(?:undici|http2)$/.test(name))).toEqual([]);
  },
);

it('answers the commands of its data folder, from wherever they are told its address', async () => {
  await using server = await startModernServer();
  folder.write('mcp.json', { mcpServers: { demo: { url: server.url } } });
  await using gateway = await folder.serve();
  expect(await folder.json(['servers', 'refresh', 'demo'])).toMatchObject([0, { servers: [{ state: 'connected' }] }]);
  const call = ['tools', 'call', 'demo__echo', '--args', '{"text": "through"}'];
  expect(await folder.json(call)).toMatchObject([0, { content: 'through', status: 'done' }]);
  expect(await folder.json(['config', 'print'])).toMatchObject([0, { serve: { port: 0 } }]);
  const report = await folder.run(['doctor']);
  expect(report.stdout).toContain(gateway.url);
  expect(report.code).toBe(0);
  const namesOf = ([, doctor]: [number | null, unknown]): string[] =>
    (doctor as { checks: { name: string }[] }).checks.map((check) => check.name);
  const attached = namesOf(await folder.json(['doctor']));
  expect(attached).toEqual(expect.arrayContaining(['configuration', 'script runner', 'browser', 'server demo']));

  using elsewhere = makeGantryFolder();
  elsewhere.write('mcp.json', { mcpServers: { demo: { url: server.url } } });
  expect(namesOf(await elsewhere.json(['doctor']))).toEqual(attached);
  expect(await elsewhere.json([...call, '--url', gateway.url])).toMatchObject([0, { content: 'through' }]);
  expect(await elsewhere.json(call, { env: { GANTRY_URL: gateway.url } })).toMatchObject([0, { content: 'through' }]);
  expect(await elsewhere.json(['tools', 'show', 'demo__eco', '--url', gateway.url])).toMatchObject([
    1,
    { error: { code: 'tool_not_found', message: expect.stringContaining('demo__echo') } },
  ]);
});

it('is found no more after it was killed', async () => {
  await using gateway = await folder.serve();
  await gateway.stop('SIGKILL');
  expect((await folder.run(['tools', 'list'])).code).toBe(0);
  const asked = await folder.run(['tools', 'list', '--url', gateway.url]);
  expect(asked).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('No gateway answers') });
});

it('is the only one on its data folder', async () => {
  await using gateway = await folder.serve();
  const { code, stdout, stderr } = await folder.run(['serve', '--port', '0']);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr.trimEnd().split('\n')).toEqual([expect.stringContaining(gateway.url)]);
});

it('says in one line that its port is in use', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const { code, stdout, stderr } = await folder.run(['serve', '--port', String(port)]);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr.trimEnd().split('\n')).toEqual([expect.stringContaining(String(port))]);
  expect(
    await folder.json(['doctor', '--log-level', 'error'], { env: { GANTRY_SERVE__PORT: String(port) } }),
  ).toMatchObject([1, { ok: false }]);
  other.close();
});

it('describes its API', async () => {
  await using gateway = await folder.serve();
  const response = await fetch(`${gateway.url}/api/v1/openapi.json`);
  expect(await response.json()).toMatchObject({
    openapi: '3.1.0',
    paths: { '/api/v1/tools': { get: { operationId: 'tools.list' } } },
  });
});

describe('a call that runs while the gateway is told to stop', () => {
  const startCall = async (gateway: ServingGantry, server: SlowServer): Promise<Promise<Response | Error>> => {
    expect(await folder.json(['servers', 'refresh'])).toMatchObject([0, { servers: [{ state: 'connected' }] }]);
    const calling = fetch(`${gateway.url}/api/v1/tools/slow__wait/call`, { method: 'POST', body: '{}' });
    await server.called;
    return calling.catch((error: Error) => error);
  };

  it('is let end, and the exit code is 0', async () => {
    await using server = await startSlowServer();
    folder.write('mcp.json', { mcpServers: { slow: { url: server.url } } });
    await using gateway = await folder.serve();
    const calling = startCall(gateway, server);
    await server.called;
    const stopping = gateway.stop('SIGTERM');
    await stopsListening(gateway.url);
    server.release();
    const response = (await calling) as Response;
    expect(await response.json()).toMatchObject({ status: 'done', content: 'waited' });
    expect(await stopping).toBe(0);
  });

  it('is answered when it does not end in time, whoever asked for it, and the exit code is 0', async () => {
    await using server = await startSlowServer();
    folder.write('mcp.json', { mcpServers: { slow: { url: server.url } } });
    await using gateway = await folder.serve();
    const calling = startCall(gateway, server);
    await server.called;
    const command = folder.run(['tools', 'call', 'slow__wait', '--url', gateway.url]);
    const clients = (['legacy', 'auto'] as const).map(async (mode) => {
      const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
      await client.connect(new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`)));
      const called = expect(client.callTool({ name: 'slow__wait' })).rejects.toThrow('Gantry is stopping');
      return { called, client };
    });
    await Promise.all(clients);
    await server.calledTimes(4);
    expect(await gateway.stop('SIGTERM')).toBe(0);
    expect(await ((await calling) as Response).json()).toMatchObject({
      status: 'failed',
      error: { code: 'execution_failed', isRetryable: true, message: expect.stringContaining('Gantry is stopping') },
    });
    expect(await command).toMatchObject({ code: 1, stderr: expect.stringContaining('Gantry is stopping') });
    for (const { called } of await Promise.all(clients)) await called;
  });

  it('does not hold up a second signal, and the exit code is 130', async () => {
    await using server = await startSlowServer();
    folder.write('mcp.json', { mcpServers: { slow: { url: server.url } } });
    await using gateway = await folder.serve();
    const calling = startCall(gateway, server);
    await server.called;
    gateway.child.kill('SIGTERM');
    await stopsListening(gateway.url);
    expect(await gateway.stop('SIGTERM')).toBe(130);
    expect(await calling).toBeInstanceOf(Error);
  });
});

it('cancels a call at its server when the command that asked for it is interrupted', async () => {
  await using server = await startSlowServer();
  folder.write('mcp.json', { mcpServers: { slow: { url: server.url } } });
  await using gateway = await folder.serve();
  expect(await folder.json(['servers', 'refresh'])).toMatchObject([0, { servers: [{ state: 'connected' }] }]);
  const command = folder.start(['tools', 'call', 'slow__wait', '--url', gateway.url]);
  await server.called;
  command.kill('SIGINT');
  expect(await once(command, 'exit')).toEqual([130, null]);
  await server.cancelled;
});

/** Resolves when the address takes no more connections. */
const stopsListening = async (url: string): Promise<void> => {
  for (;;) {
    const open = await fetch(`${url}/healthz`).then(
      () => true,
      () => false,
    );
    if (!open) return;
  }
};
