import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { folderProblem, makeFolder } from './make-folder.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'gantry-folder-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

it('makes a folder with all that are missing above it, in the given mode, also by several at once', async () => {
  const path = join(root, 'a/b/c');
  await Promise.all([makeFolder(path, 0o700), makeFolder(path, 0o700), makeFolder(join(root, 'a/b/d'), 0o700)]);
  expect(['a', 'a/b', 'a/b/c', 'a/b/d'].map((part) => statSync(join(root, part)).mode & 0o777)).toEqual(
    Array.from({ length: 4 }, () => 0o700),
  );
});

it('leaves a folder that is there as it is', async () => {
  chmodSync(root, 0o711);
  await makeFolder(root, 0o700);
  expect(statSync(root).mode & 0o777).toBe(0o711);
});

it('refuses where a file stands in the way', async () => {
  writeFileSync(join(root, 'file'), '');
  await expect(makeFolder(join(root, 'file'))).rejects.toMatchObject({ code: 'EEXIST' });
  await expect(makeFolder(join(root, 'file/x/y'))).rejects.toMatchObject({ code: 'ENOTDIR' });
});

it.runIf(process.platform === 'linux')(
  'gives up where the kernel makes no folders, instead of trying for ever',
  async () => {
    await expect(makeFolder('/proc/gantry/x')).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await folderProblem('/proc/gantry/x')).toMatch(/^cannot be made: \/proc cannot be written/);
  },
);

it('finds no problem with what can be made, and makes nothing to find that out', async () => {
  mkdirSync(join(root, 'there'));
  expect(await folderProblem(join(root, 'there'))).toBeUndefined();
  expect(await folderProblem(join(root, 'a/b'))).toBeUndefined();
  expect(() => statSync(join(root, 'a'))).toThrow('ENOENT');
});
