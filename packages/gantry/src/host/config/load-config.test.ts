import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LoadedConfig } from './load-config.ts';
import { loadConfig } from './load-config.ts';

let cwd: string;
beforeEach(() => (cwd = mkdtempSync(join(tmpdir(), 'gantry-config-'))));
afterEach(() => rmSync(cwd, { recursive: true }));

const write = (text: string, name = 'gantry.config.json'): void => writeFileSync(join(cwd, name), text);
const load = (
  more: { env?: Record<string, string>; flags?: Record<string, unknown>; file?: string } = {},
): Promise<LoadedConfig> => loadConfig({ cwd, env: {}, ...more });
const fault = async (more: Parameters<typeof load>[0] = {}): Promise<string> =>
  load(more).then(
    () => 'no fault',
    (error: { code: string; message: string }) => `${error.code}: ${error.message}`,
  );

describe('where settings come from', () => {
  it('needs no file: everything has a default', async () => {
    const { config, file, warnings } = await load();
    expect(config).toMatchObject({
      agent: 'gantry',
      dataDir: '.gantry',
      serve: { port: 7420, host: '127.0.0.1' },
      mcp: { stdio: 'skip', defaultTimeoutMs: 60_000 },
    });
    expect({ file, warnings }).toEqual({ file: undefined, warnings: [] });
  });

  it('lets flags win over the environment, and the environment over the file, setting by setting', async () => {
    write('{"serve": {"port": 1, "host": "file"}, "mcp": {"maxTimeoutMs": 1}}');
    const { config } = await load({
      env: { GANTRY_SERVE__PORT: '2', GANTRY_MCP__MAXTIMEOUTMS: '2' },
      flags: { serve: { port: 3, host: undefined } },
    });
    expect(config.serve).toMatchObject({ port: 3, host: 'file' });
    expect(config.mcp.maxTimeoutMs).toBe(2);
  });

  it('reads comments and trailing commas', async () => {
    write('{\n  // the gateway\n  "serve": {"port": 8000,},\n}');
    expect((await load()).config.serve.port).toBe(8000);
  });

  it('reads a TypeScript file, which wins over a JSON file with a warning', async () => {
    write('{"serve": {"port": 1}}');
    write('export default { serve: { port: 2 as number } };', 'gantry.config.ts');
    const { config, warnings } = await load();
    expect(config.serve.port).toBe(2);
    expect(warnings).toEqual([expect.stringContaining('gantry.config.ts is used')]);
  });
});

describe('the environment', () => {
  it.each<[string, string, (config: LoadedConfig['config']) => unknown, unknown]>([
    ['GANTRY_MCP__STDIO', 'launch', (config) => config.mcp.stdio, 'launch'],
    ['GANTRY_SERVE__ALLOWEDHOSTS', '["a.example"]', (config) => config.serve.allowedHosts, ['a.example']],
    [
      'GANTRY_MCP__DEFAULTSERVERS__Docs',
      'https://docs.example/mcp',
      (config) => config.mcp.defaultServers,
      { Docs: 'https://docs.example/mcp' },
    ],
    ['McpBridge__WrapperMode', 'Lazy', (config) => config.mcp.wrapperMode, 'lazy'],
    ['GANTRY_MCP__WRAPPERMODEBYTIER', '{"High":"Off"}', (config) => config.mcp.wrapperModeByTier, { high: 'off' }],
    ['McpBridge__WrapperModeByTier__Low', 'EAGER', (config) => config.mcp.wrapperModeByTier, { low: 'eager' }],
    ['GANTRY_SERVE__CLIENTMODES', '{"desk":"pinned"}', (config) => config.serve.clientModes, { desk: 'pinned' }],
    ['McpBridge__DefaultTimeoutMs', '5', (config) => config.mcp.defaultTimeoutMs, 5],
    ['GANTRY_TOKEN', '1234567890123456', (config) => config.serve.token, '1234567890123456'],
    ['GANTRY_DATADIR', '42', (config) => config.dataDir, '42'],
  ])('sets %s=%s', async (variable, text, read, expected) => {
    expect(read((await load({ env: { [variable]: text } })).config)).toEqual(expected);
  });

  it('warns of a variable that names no setting, with the nearest that does', async () => {
    const { warnings } = await load({ env: { GANTRY_SERVE__PROT: '1', HOME: '/x', GANTRY_URL: 'http://x' } });
    expect(warnings).toEqual([
      'The environment variable GANTRY_SERVE__PROT names no setting; did you mean GANTRY_SERVE__PORT?',
    ]);
  });
});

describe('a fault', () => {
  it('in JSON names file, line and column', async () => {
    write('{\n  "serve": {"port" 1}\n}');
    expect(await fault()).toMatch(/^config_invalid: .*gantry\.config\.json:2:\d+: not valid JSON/);
  });

  it('in a value names the file and the path', async () => {
    write('{"serve": {"port": "high"}}');
    expect(await fault()).toMatch(/gantry\.config\.json: serve\.port: .*number/);
  });

  it('in a variable names the variable', async () => {
    expect(await fault({ env: { GANTRY_SERVE__PORT: '99999' } })).toMatch(/GANTRY_SERVE__PORT: serve\.port:/);
  });

  it('in a flag names the command line', async () => {
    expect(await fault({ flags: { log: { level: 'loud' } } })).toMatch(/command line: log\.level:/);
  });

  it('of spelling names the nearest setting', async () => {
    write('{"serve": {"prot": 1}}');
    expect(await fault()).toMatch(/serve\.prot: there is no such setting; did you mean "port"\?/);
  });

  it('names the file that was asked for and is not there', async () => {
    expect(await fault({ file: 'other.json' })).toMatch(/There is no configuration file .*other\.json/);
  });

  it('never repeats the value of a secret', async () => {
    write('{"serve": {"token": "hunter2-short"}}');
    expect(await fault()).not.toContain('hunter2');
  });

  it('in the address of a broker says how one is written, and does not repeat it', async () => {
    const text = await fault({ env: { GANTRY_BUS__URL: 'amqp://user:hunter2%@mq' } });
    expect(text).toMatch(/GANTRY_BUS__URL: bus\.url: .*amqp:\/\/user:password@host/);
    expect(text).not.toContain('hunter2');
    const { config } = await load({ env: { GANTRY_BUS__URL: 'amqp://mq', GANTRY_BUS__PREFETCH: '5' } });
    expect(config.bus).toMatchObject({ url: 'amqp://mq', prefix: 'gantry', prefetch: 5, waitSeconds: 30 });
  });

  it('is a runner that needs a broker where there is none', async () => {
    write('{"scripts": {"runner": "remote"}}');
    expect(await fault()).toMatch(/scripts\.runner: .*set "bus"/);
  });
});
