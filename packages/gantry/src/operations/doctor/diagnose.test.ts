import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { DoctorFacts } from './diagnose.ts';
import { diagnose } from './diagnose.ts';
import type { DoctorCheck } from './doctor-report.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'gantry-doctor-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const look = async (name: string, facts: Partial<DoctorFacts> = {}): Promise<DoctorCheck> => {
  const checks = await diagnose({
    nodeVersion: '26.10.0',
    dataDir: join(root, 'data'),
    sharedDir: join(root, 'data/shared'),
    keyFile: join(root, 'config/keys.json'),
    env: {},
    mcpFile: join(root, 'mcp.json'),
    listen: { host: '127.0.0.1', port: 0 },
    ...facts,
  });
  return checks.find((check) => check.name === name) as DoctorCheck;
};

it('finds nothing broken on a fresh machine, and changes nothing', async () => {
  for (const name of ['runtime', 'data folder', 'shared folder', 'encryption key', 'port'])
    expect(await look(name)).toMatchObject({ state: 'ok' });
  expect(await look('file of servers')).toMatchObject({
    state: 'warning',
    fix: expect.stringContaining('gantry init'),
  });
  expect(existsSync(join(root, 'data'))).toBe(false);
});

it('refuses a runtime that is too old', async () => {
  expect(await look('runtime', { nodeVersion: '22.1.0' })).toMatchObject({ state: 'broken', fix: expect.any(String) });
});

it.each([['data folder'], ['shared folder']] as const)(
  'finds a %s that is no folder, or cannot be made',
  async (name) => {
    const file = join(root, 'file');
    writeFileSync(file, '');
    const key = name === 'data folder' ? 'dataDir' : 'sharedDir';
    expect(await look(name, { [key]: file })).toMatchObject({ state: 'broken', message: `${file} is no folder` });
    expect(await look(name, { [key]: join(file, 'x/y') })).toMatchObject({
      state: 'broken',
      message: expect.stringContaining('cannot be made'),
    });
  },
);

it('finds a key file that others may read, and one that is damaged', async () => {
  mkdirSync(join(root, 'config'));
  const keyFile = join(root, 'config/keys.json');
  writeFileSync(keyFile, '{}', { mode: 0o644 });
  expect(await look('encryption key')).toMatchObject({
    state: 'broken',
    message: expect.stringContaining('chmod 600'),
  });
  chmodSync(keyFile, 0o600);
  expect(await look('encryption key')).toMatchObject({ state: 'broken', message: expect.stringContaining('no') });
});

it('is content with secrets from the environment', async () => {
  expect(await look('encryption key', { env: { GANTRY_CRYPTO_SECRET: 'correct horse battery' } })).toMatchObject({
    state: 'ok',
    message: 'from GANTRY_CRYPTO_SECRET',
  });
  const versioned = { GANTRY_CRYPTO_SECRET_V2: 'correct horse battery' };
  expect(await look('encryption key', { env: versioned })).toMatchObject({ state: 'ok' });
  expect(await look('encryption key', { env: { ...versioned, GANTRY_CRYPTO_SECRET_CURRENT: '3' } })).toMatchObject({
    state: 'broken',
    message: expect.stringContaining('GANTRY_CRYPTO_SECRET_CURRENT'),
  });
});

it('finds a port that another program uses, unless that is the gateway itself', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const listen = { host: '127.0.0.1', port: (other.address() as AddressInfo).port };
  expect(await look('port', { listen })).toMatchObject({
    state: 'broken',
    message: expect.stringContaining('used by another program'),
    fix: expect.stringContaining('--port'),
  });
  expect(await look('port', { listen: { ...listen, owner: 'http://127.0.0.1:1' } })).toMatchObject({ state: 'ok' });
  other.close();
});

it.each([
  ['{"mcpServers": {"a": {"url": "https://example.com/mcp"}}}', 'ok', '1 server'],
  ['{"mcpServers": {', 'broken', 'mcp.json:1:'],
  ['{"mcpServers": {"a": {"url": "nonsense"}}}', 'broken', 'mcpServers.a.url'],
])('reads the file of servers %j: %s', async (text, state, part) => {
  writeFileSync(join(root, 'mcp.json'), text);
  expect(await look('file of servers')).toMatchObject({ state, message: expect.stringContaining(part) });
});
