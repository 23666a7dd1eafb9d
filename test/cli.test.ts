import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createGantry } from '../packages/gantry/src/host/create-gantry.ts';
import type { McpServers } from '../packages/gantry/src/host/plugins/mcp.ts';
import { mcp, mcpServers } from '../packages/gantry/src/host/plugins/mcp.ts';
import { silentLog } from '../packages/gantry/src/kernel/log.ts';
import type { GantryFolder } from './fixtures/gantry-process.ts';
import { makeGantryFolder } from './fixtures/gantry-process.ts';
import { listenOnLoopback } from './fixtures/listen-on-loopback.ts';
import { startModernServer } from './fixtures/modern-server.ts';

let folder: GantryFolder;
beforeEach(() => {
  folder = makeGantryFolder();
});
afterEach(() => folder[Symbol.dispose]());

it('takes a user from nothing to a called tool of an MCP server', async () => {
  await using server = await startModernServer();
  expect(await folder.run(['init'])).toMatchObject({ code: 0, stderr: '' });
  folder.write('mcp.json', { mcpServers: { demo: { url: server.url } } });
  expect(await folder.run(['config', 'check'])).toMatchObject({ code: 0 });
  expect(await folder.json(['servers', 'list'])).toMatchObject([
    0,
    { servers: [{ name: 'demo', state: 'connected', transport: 'streamable-http', origin: 'operator' }] },
  ]);
  const [, listed] = await folder.json(['tools', 'list', '--source', 'mcp:demo']);
  expect((listed as { tools: { name: string }[] }).tools.map((tool) => tool.name)).toContain('demo__echo');
  expect(await folder.json(['tools', 'show', 'demo__add'])).toMatchObject([
    0,
    { target: { server: 'demo', tool: 'add' }, inputSchema: { required: ['a', 'b'] }, guide: 'mcp' },
  ]);
  expect(await folder.json(['tools', 'call', 'demo__add', '--args', '{"a": 1, "b": "2"}'])).toMatchObject([
    0,
    { toolName: 'demo__add', status: 'done', isError: false, structuredContent: { sum: 3 } },
  ]);
  expect(await folder.json(['tools', 'call', 'demo__fail'])).toMatchObject([
    1,
    { status: 'failed', isError: true, content: expect.stringContaining('Order 17'), error: { isRetryable: false } },
  ]);
  expect(await folder.json(['servers', 'show', 'demo'])).toMatchObject([
    0,
    { identity: { version: '2.0.0', instructions: 'Be kind.' } },
  ]);
  expect(await folder.json(['servers', 'refresh', 'demo'])).toMatchObject([0, { servers: [{ state: 'connected' }] }]);
  expect(await folder.json(['doctor'], { env: { GANTRY_SERVE__PORT: '0' } })).toMatchObject([0, { ok: true }]);
});

describe('standard output', () => {
  it('with --json is one document, whatever happens and however much is logged', async () => {
    const commands = [
      ['tools', 'list'],
      ['guides', 'show', 'nothing'],
      ['tools', 'call', 'get_tool_guide', '--args', 'no json'],
      ['config', 'print'],
      ['doctor'],
      ['tools', 'lst'],
    ];
    for (const command of commands) {
      const { stdout } = await folder.run([...command, '--json', '--log-level', 'debug']);
      expect(JSON.parse(stdout), command.join(' ')).toBeTypeOf('object');
    }
  });

  it('has no colours in a pipe', async () => {
    for (const argv of [['tools', 'list'], ['doctor'], ['--help'], ['tools', 'lst']]) {
      const { stdout, stderr } = await folder.run(argv);
      expect(stdout + stderr).not.toContain('\u001b');
    }
  });

  it('takes arguments from standard input', async () => {
    const { code, stdout } = await folder.run(['tools', 'call', 'get_tool_guide', '--args', '-'], {
      stdin: '{"name": "memory"}',
    });
    expect([code, stdout.split('\n')[0]]).toEqual([0, '# Working memory']);
  });
});

describe('wrong usage and configuration exit with 2', () => {
  it.each([
    [['severs'], 'servers'],
    [['tools', 'list', '--souce', 'x'], '--source'],
    [['tools', 'list', '--config', 'none.json'], 'none.json'],
    [['tools', 'list', '--data', 'file'], 'file'],
    [['serve', '--port', '0', '--host', '0.0.0.0'], 'GANTRY_TOKEN'],
    [['serve', '--port', '0', '--data', 'file'], '--data'],
    [['serve', '--port', '0', '--data', '/proc/gantry'], '--data'],
    [['tools', 'list', '--data', '/proc/gantry'], '--data'],
    [['tools', 'list', '--data', 'garbage'], 'gantry.db'],
  ])('%j', async (argv, part) => {
    writeFileSync(join(folder.path, 'file'), '');
    mkdirSync(join(folder.path, 'garbage'));
    writeFileSync(
      join(folder.path, 'garbage/gantry.db'),
      'no database at all, and long enough to be read as one'.repeat(99),
    );
    const { code, stdout, stderr } = await folder.run(argv);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(part);
  });

  it('when there is no place for the encryption key, naming the file and what else there is', async () => {
    writeFileSync(join(folder.path, 'file'), '');
    const { code, stderr } = await folder.run(['tools', 'list'], { env: { HOME: join(folder.path, 'file') } });
    expect(code).toBe(2);
    expect(stderr).toMatch(/^gantry: The encryption key file .*keys\.json cannot be .*GANTRY_CRYPTO_SECRET.*\n$/);
  });

  it('naming entries of one server that say different things, and names that no server can have', async () => {
    const text = `{ "mcpServers": {
  "a": { "url": "https://a.example/mcp" },
  "b": { "url": "https://a.example/mcp", "toolTimeoutMs": 5 },
  "": { "url": "https://b.example/mcp" },
  "__proto__": { "url": "https://c.example/mcp" },
  "a b": { "url": "https://d.example/mcp" }
} }`;
    folder.write('mcp.json', text);
    const { code, stdout, stderr } = await folder.run(['config', 'check']);
    expect(code).toBe(2);
    expect(stdout).toContain('mcp.json:3:3: mcpServers.b: It is the same server as "a"');
    expect(stdout).toContain('mcp.json:4:3: mcpServers.: "" cannot be the name of a server');
    expect(stdout).toContain('mcp.json:5:3: mcpServers.__proto__: "__proto__" cannot be the name of a server');
    expect(stderr).toContain('Server name "a b" would not be accepted for a new server');
    expect(readFileSync(join(folder.path, 'mcp.json'), 'utf8')).toBe(text);
  });

  it('naming file, line, path and fix', async () => {
    folder.write('gantry.config.json', '{\n  "mcp": {\n    "stdoi": "launch"\n  }\n}');
    const checked = await folder.run(['config', 'check']);
    expect(checked.code).toBe(2);
    expect(checked.stdout).toContain(
      'gantry.config.json:3:5: mcp.stdoi: there is no such setting; did you mean "stdio"?',
    );
    const listed = await folder.run(['tools', 'list']);
    expect([listed.code, listed.stdout]).toEqual([2, '']);
    expect(listed.stderr).toContain('mcp.stdoi');
  });
});

it('ends when it is told to while it starts, even if the start never would', async () => {
  writeFileSync(
    join(folder.path, 'gantry.config.ts'),
    'process.stderr.write("loading\\n"); await new Promise(() => {}); export default {};',
  );
  const command = folder.start(['serve', '--port', '0']);
  await once(command.stderr, 'data');
  command.kill('SIGTERM');
  expect(await once(command, 'exit')).toEqual([130, null]);
});

describe('a server that does not answer', () => {
  it('does not keep the tools of others from being called, and is said to be connecting', async () => {
    await using server = await startModernServer();
    await using silent = await listenOnLoopback(() => {});
    folder.write('mcp.json', { mcpServers: { demo: { url: server.url }, silent: { url: silent.url } } });
    const call = ['tools', 'call', 'demo__echo', '--args', '{"text": "hi"}'];
    expect(await folder.run(call)).toMatchObject({ code: 0, stdout: 'hi\n', stderr: '' });
    const listed = await folder.json(['servers', 'list']);
    expect(listed).toMatchObject([0, { servers: [{ state: 'connected' }, { name: 'silent', state: 'connecting' }] }]);
  });

  it('is tried once by a refresh that comes while it is being connected', async () => {
    const attempt = async (refreshes: boolean): Promise<number> => {
      const [asked, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      let requests = 0;
      await using late = await listenOnLoopback((_request, response) => {
        requests += 1;
        asked.resolve();
        void release.promise.then(() => response.writeHead(404).end());
      });
      const config = join(folder.path, 'late.json');
      folder.write('late.json', { mcpServers: { late: { url: late.url } } });
      const options = { dataDir: ':memory:', log: silentLog };
      await using gantry = await createGantry(options)
        .use(mcp({ config, connectRetryCount: 0 }))
        .start();
      const servers = gantry.service(mcpServers) as McpServers;
      await asked.promise;
      const known = refreshes ? servers.refresh('late') : servers.ready();
      release.resolve();
      await known;
      expect(servers.servers()).toMatchObject([{ name: 'late', lastError: expect.any(String) }]);
      return requests;
    };
    expect(await attempt(true)).toBe(await attempt(false));
  });
});

it('works in a folder without any file and leaves only its data behind', async () => {
  expect((await folder.run(['tools', 'list'])).code).toBe(0);
  expect(existsSync(join(folder.path, 'mcp.json'))).toBe(false);
  expect(existsSync(join(folder.path, '.gantry/gantry.db'))).toBe(true);
});
