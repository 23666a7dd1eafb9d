import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { rotateKeyFile } from './key-file.ts';
import { loadKeyring } from './load-keyring.ts';

let home: string;
let dataDir: string;
let keyFile: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'gantry-keys-'));
  dataDir = join(home, 'data');
  keyFile = join(home, 'config', 'gantry', 'keys.json');
});
afterEach(() => rm(home, { recursive: true }));

const secret = 'correct horse battery staple';
const invalid = (message: RegExp) => ({ code: 'config_invalid', message: expect.stringMatching(message) as string });
const load = (options: { keyFile?: string; byVersion?: Record<number, string>; currentVersion?: number } = {}) =>
  loadKeyring({
    keyFile,
    dataDir,
    ...options,
    configured: options.byVersion && {
      currentVersion: options.currentVersion ?? 1,
      byVersion: new Map(Object.entries(options.byVersion).map(([version, text]) => [Number(version), text])),
    },
  });

describe('loadKeyring without a configured secret', () => {
  it('makes a key file that only its owner reads, and finds the same key again', async () => {
    const first = await load();
    expect((await stat(keyFile)).mode & 0o777).toBe(0o600);
    expect((await stat(dirname(keyFile))).mode & 0o777).toBe(0o700);
    expect(await load()).toEqual(first);
    expect(first.keys.get(first.currentId)).toHaveLength(32);
  });

  it('gives processes that start at once the same key, and leaves nothing else behind', async () => {
    const rings = await Promise.all(Array.from({ length: 8 }, () => load()));
    expect(new Set(rings.map((ring) => ring.currentId)).size).toBe(1);
    expect(await readdir(dirname(keyFile))).toEqual(['keys.json']);
  });

  it('adds a key on rotation, and keeps the earlier one for reading', async () => {
    const before = await load();
    const after = await rotateKeyFile(keyFile, dataDir);
    expect(after.currentId).not.toBe(before.currentId);
    expect(after.keys.get(before.currentId)).toEqual(before.keys.get(before.currentId));
    expect(await load()).toEqual(after);
    expect((await stat(keyFile)).mode & 0o777).toBe(0o600);
  });

  it.each([0o640, 0o604, 0o660])('refuses a key file of mode %o', async (mode) => {
    await load();
    await chmod(keyFile, mode);
    await expect(load()).rejects.toMatchObject(invalid(/read by other users .*chmod 600/));
  });

  it('refuses a key file in the data folder, and makes none', async () => {
    await expect(load({ keyFile: join(dataDir, 'deep', 'keys.json') })).rejects.toMatchObject(
      invalid(/lies in the data folder/),
    );
    await expect(stat(dataDir)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('refuses one that gets into the data folder by a link', async () => {
    await mkdir(dataDir);
    await symlink(dataDir, join(home, 'config'));
    await expect(load()).rejects.toMatchObject(invalid(/lies in the data folder/));
  });

  it('accepts a neighbour whose name only begins like the data folder', async () => {
    await expect(load({ keyFile: join(home, 'data-keys', 'keys.json') })).resolves.toBeDefined();
    await expect(load({ keyFile: join(home, '..data.json') })).resolves.toBeDefined();
  });

  it.each([
    ['no JSON', '{'],
    ['no keys', '{"version":1,"currentId":"a","keys":{}}'],
    ['a short key', '{"version":1,"currentId":"a","keys":{"a":"AAAA"}}'],
  ])('refuses a key file with %s instead of making a new one', async (_, text) => {
    await mkdir(dirname(keyFile), { recursive: true });
    await writeFile(keyFile, text, { mode: 0o600 });
    await expect(load()).rejects.toMatchObject(invalid(/is not a key file/));
    expect(await readFile(keyFile, 'utf8')).toBe(text);
  });
});

it('says where the key cannot be kept and what else there is, and does without it when there are secrets', async () => {
  await writeFile(join(home, 'file'), '');
  const unreachable = join(home, 'file', 'gantry', 'keys.json');
  await expect(load({ keyFile: unreachable })).rejects.toMatchObject(
    invalid(/keys\.json cannot be .* set GANTRY_CRYPTO_SECRET, or XDG_CONFIG_HOME/),
  );
  expect((await load({ keyFile: unreachable, byVersion: { 1: secret } })).currentId).toBe('v1');
});

describe('loadKeyring with configured secrets', () => {
  it('derives the same key from the same secret everywhere, and makes no file', async () => {
    const [here, there] = [await load({ byVersion: { 1: secret } }), await load({ byVersion: { 1: secret } })];
    expect(here).toEqual(there);
    expect(here.currentId).toBe('v1');
    await expect(stat(keyFile)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('encrypts with the current version and reads all of them', async () => {
    const ring = await load({ byVersion: { 1: secret, 2: `${secret} 2` }, currentVersion: 2 });
    expect(ring.currentId).toBe('v2');
    expect([...ring.keys.keys()]).toEqual(['v1', 'v2']);
    expect(ring.keys.get('v1')).not.toEqual(ring.keys.get('v2'));
  });

  it('still reads with the keys of a key file that was used before', async () => {
    const before = await load();
    const after = await load({ byVersion: { 1: secret } });
    expect(after.currentId).toBe('v1');
    expect(after.keys.get(before.currentId)).toEqual(before.keys.get(before.currentId));
  });

  it('refuses a secret that is easily guessed', async () => {
    await expect(load({ byVersion: { 1: 'hunter2' } })).rejects.toMatchObject(invalid(/at least 16/));
  });
});
