import { spawnSync } from 'node:child_process';
import { existsSync, linkSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { defaultScriptLimits } from '../runner.ts';
import { pidNamespace } from './owner-tag.ts';
import { createWorkFolder, openTree, sweepWorkFolders } from './work-folder.ts';

const names = (files: readonly { path: string }[]): string[] => files.map(({ path }) => path).sort();

it('collects new and changed files, and not what was given', async () => {
  await using folder = await createWorkFolder();
  await folder.put('script.py', 'x');
  await folder.put('data/in.txt', 'unchanged');
  await folder.put('data/edit.txt', 'before');
  writeFileSync(join(folder.path, 'data/edit.txt'), 'after');
  writeFileSync(join(folder.path, 'new.txt'), 'new');
  const { files, leftOut } = await folder.collect(defaultScriptLimits);
  expect(names(files)).toEqual(['data/edit.txt', 'new.txt']);
  expect(leftOut).toEqual([]);
});

it('follows no link and opens nothing but regular files', async () => {
  const outside = mkdtempSync(join(tmpdir(), 'gantry-outside-'));
  try {
    writeFileSync(join(outside, 'secret'), 'secret');
    await using folder = await createWorkFolder();
    symlinkSync(join(outside, 'secret'), join(folder.path, 'file-link'));
    symlinkSync(outside, join(folder.path, 'folder-link'));
    linkSync(join(outside, 'secret'), join(folder.path, 'hard-link'));
    expect(spawnSync('/usr/bin/mkfifo', [join(folder.path, 'pipe')]).status).toBe(0);
    const { files, leftOut } = await folder.collect(defaultScriptLimits);
    expect(files).toEqual([]);
    expect(leftOut.sort()).toEqual([
      'file-link: not a regular file',
      'folder-link: not a regular file',
      'hard-link: has a second name (hard link)',
      'pipe: not a regular file',
    ]);
  } finally {
    rmSync(outside, { recursive: true });
  }
});

it('leaves out what is too large or too many, and says so', async () => {
  await using folder = await createWorkFolder();
  writeFileSync(join(folder.path, 'a'), 'x'.repeat(100));
  writeFileSync(join(folder.path, 'b'), 'x');
  writeFileSync(join(folder.path, 'c'), 'x');
  const { files, leftOut } = await folder.collect({ ...defaultScriptLimits, maxFileBytes: 10, maxFiles: 1 });
  expect(files).toHaveLength(1);
  expect(leftOut).toHaveLength(2);
  expect(leftOut.join()).toMatch(/a: larger than .*more than 1 files/);
});

it.each(['../x', '/etc/x', 'a/../../x', '.'])('takes no file at %j', async (path) => {
  await using folder = await createWorkFolder();
  await expect(folder.put(path, 'x')).rejects.toMatchObject({ code: 'invalid_arguments' });
});

it('stops measuring once it is too much', async () => {
  await using folder = await createWorkFolder();
  writeFileSync(join(folder.path, 'a'), 'x'.repeat(50_000));
  expect(await folder.measure(1_000_000)).toBeGreaterThanOrEqual(50_000);
  expect(await folder.measure(10)).toBeGreaterThan(10);
});

it('removes folders that are closed or nested deeper than a path can name', async () => {
  const folder = await createWorkFolder();
  mkdirSync(join(folder.path, 'closed'), { mode: 0o000 });
  const nest = 'i=0; while [ $i -lt 60 ]; do mkdir "$1" && cd -P "$1" || exit 1; i=$((i+1)); done';
  expect(spawnSync('bash', ['-c', nest, 'bash', 'd'.repeat(200)], { cwd: folder.path }).status).toBe(0);
  await folder[Symbol.asyncDispose]();
  expect(existsSync(dirname(folder.path))).toBe(false);
});

it('lets everybody read what one user wrote for itself, and leaves what leads elsewhere', async () => {
  const root = mkdtempSync(join(tmpdir(), 'gantry-open-tree-'));
  const outside = join(root, '..', `gantry-outside-${process.pid}`);
  writeFileSync(outside, '', { mode: 0o600 });
  mkdirSync(join(root, 'package'), { mode: 0o700 });
  writeFileSync(join(root, 'package/code.py'), '', { mode: 0o600 });
  writeFileSync(join(root, 'tool'), '', { mode: 0o700 });
  symlinkSync(outside, join(root, 'link'));
  linkSync(outside, join(root, 'second-name'));
  await openTree(root);
  const modes = ['', 'package', 'package/code.py', 'tool'].map((name) => statSync(join(root, name)).mode & 0o777);
  expect(modes).toEqual([0o755, 0o755, 0o644, 0o755]);
  expect(statSync(outside).mode & 0o777).toBe(0o600);
  rmSync(root, { recursive: true });
  rmSync(outside);
});

it.skipIf(process.platform !== 'linux')(
  'clears away what a host that was killed has left, and nothing else',
  async () => {
    const { pid } = spawnSync('/bin/true');
    const folders = [`gantry-run-${pidNamespace()}-${pid}-left`, `gantry-run-1-${pid}-elsewhere`, `gantry-run-${pid}`];
    const [left, elsewhere, other] = folders.map((name) => join(tmpdir(), name)) as [string, string, string];
    for (const path of [left, elsewhere, other]) mkdirSync(join(path, 'work'), { recursive: true });
    await using own = await createWorkFolder();
    await sweepWorkFolders();
    expect([left, elsewhere, other, own.path].map((path) => existsSync(path))).toEqual([false, true, true, true]);
    for (const path of [elsewhere, other]) rmSync(path, { recursive: true });
  },
);
