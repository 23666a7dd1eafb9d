import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { withinFolder } from './within-folder.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'gantry-within-'));
  mkdirSync(join(dir, 'root/a/b'), { recursive: true });
});
afterEach(() => rmSync(dir, { recursive: true }));

const options = (steps: readonly string[], create = false) => ({
  root: join(dir, 'root'),
  steps,
  create,
  refuse: (problem: string) => new Error(problem),
});

it.runIf(process.platform === 'linux')('stays in the folder that it entered when a link takes its place', async () => {
  mkdirSync(join(dir, 'outside'));
  await withinFolder(options(['a', 'b']), async (folder) => {
    renameSync(join(dir, 'root/a'), join(dir, 'root/moved'));
    symlinkSync(join(dir, 'outside'), join(dir, 'root/a'));
    writeFileSync(join(folder, 'x'), 'text');
  });
  expect(readdirSync(join(dir, 'outside'))).toEqual([]);
  expect(readFileSync(join(dir, 'root/moved/b/x'), 'utf8')).toBe('text');
});

it('takes a root that is itself reached through a link', async () => {
  symlinkSync(join(dir, 'root'), join(dir, 'alias'));
  const found = await withinFolder({ ...options(['a']), root: join(dir, 'alias') }, async (path) => readdirSync(path));
  expect(found).toEqual(['b']);
});

it('makes missing folders only when asked, and each once for many at a time', async () => {
  await expect(withinFolder(options(['new']), async () => 0)).rejects.toThrow('missing');
  const many = Array.from({ length: 5 }, () => withinFolder(options(['new', 'x'], true), async () => 1));
  expect(await Promise.all(many)).toEqual([1, 1, 1, 1, 1]);
});
