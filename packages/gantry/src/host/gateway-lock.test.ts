import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { findGateway, lockDataDir, prepareDataDir } from './gateway-lock.ts';

let dataDir: string;
beforeEach(() => (dataDir = mkdtempSync(join(tmpdir(), 'gantry-lock-'))));
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const silent = async (): Promise<undefined> => undefined;

it('finds no gateway in a folder that nobody owns', async () => {
  expect(await findGateway(dataDir, silent)).toBeUndefined();
});

it('finds the gateway that took the folder and answers', async () => {
  await using lock = await lockDataDir(dataDir, silent);
  await lock.announce('http://127.0.0.1:1');
  expect(await findGateway(dataDir, async () => lock.instance)).toEqual({
    url: 'http://127.0.0.1:1',
    instance: lock.instance,
  });
});

it('refuses the folder to a second gateway and says where the first one is', async () => {
  await using lock = await lockDataDir(dataDir, silent);
  await lock.announce('http://127.0.0.1:1');
  await expect(lockDataDir(dataDir, async () => lock.instance)).rejects.toMatchObject({
    code: 'data_dir_locked',
    message: expect.stringContaining('http://127.0.0.1:1'),
  });
});

it.each<[string, () => Promise<string | undefined>]>([
  ['nobody answers at its address', silent],
  ['another gateway answers there', async () => 'somebody else'],
])('takes over from one that died: %s', async (_what, ask) => {
  writeFileSync(join(dataDir, 'gateway.json'), JSON.stringify({ url: 'http://127.0.0.1:1', instance: 'dead' }));
  await using lock = await lockDataDir(dataDir, ask);
  await lock.announce('http://127.0.0.1:2');
  expect(JSON.parse(readFileSync(join(dataDir, 'gateway.json'), 'utf8'))).toEqual({
    url: 'http://127.0.0.1:2',
    instance: lock.instance,
  });
});

it('takes over from a file that was cut off', async () => {
  writeFileSync(join(dataDir, 'gateway.json'), '{"url": "htt');
  await using lock = await lockDataDir(dataDir, silent);
  expect(lock.instance).toHaveLength(32);
});

it('gives the folder up when it is disposed, but not one that another has taken since', async () => {
  const first = await lockDataDir(dataDir, silent);
  await first.announce('http://127.0.0.1:1');
  const second = await lockDataDir(dataDir, silent);
  await second.announce('http://127.0.0.1:2');
  await first[Symbol.asyncDispose]();
  expect(existsSync(join(dataDir, 'gateway.json'))).toBe(true);
  await second[Symbol.asyncDispose]();
  expect(existsSync(join(dataDir, 'gateway.json'))).toBe(false);
});

it('names a data folder that cannot be made', async () => {
  writeFileSync(join(dataDir, 'file'), '');
  await expect(prepareDataDir(join(dataDir, 'file', 'below'))).rejects.toMatchObject({
    code: 'data_dir_unwritable',
    message: expect.stringMatching(
      /file\/below cannot be written \(ENOTDIR\); make it writable or choose another one with --data/,
    ),
  });
});
