import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openFolderForPackages } from './open-folder.ts';

let parent: string;
let path: string;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'gantry-open-'));
  path = join(parent, `gantry-packages-${process.getuid?.() ?? 0}`);
});
afterEach(() => rmSync(parent, { recursive: true }));

it('is made once and found again', async () => {
  expect(await openFolderForPackages(parent)).toBe(path);
  expect(await openFolderForPackages(parent)).toBe(path);
});

it('is refused where others may write, or where a link lies in its place', async () => {
  mkdirSync(path);
  chmodSync(path, 0o777);
  expect(await openFolderForPackages(parent)).toBeUndefined();
  rmSync(path, { recursive: true });
  symlinkSync(parent, path);
  expect(await openFolderForPackages(parent)).toBeUndefined();
});
