import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { toFileName } from './file-name.ts';
import type { Volume } from './volume.ts';
import { createVolume } from './volume.ts';

let dir: string;
let volume: Volume;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'gantry-volume-'));
  volume = createVolume(join(dir, 'shared'));
});
afterEach(() => rmSync(dir, { recursive: true }));

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('saving', () => {
  it('writes the bytes and says where they are', async () => {
    const saved = await volume.saveNew('attachments', 'chart.png', bytes('abc'));
    expect(saved).toEqual({ path: join(dir, 'shared/attachments/chart.png'), name: 'chart.png', size: 3 });
    expect(readFileSync(saved.path, 'utf8')).toBe('abc');
  });

  it('never overwrites: each of many writers of one name gets a file of its own', async () => {
    const saved = await Promise.all(
      Array.from({ length: 8 }, (_, index) => volume.saveNew('a', 'x.txt', bytes(`${index}`))),
    );
    expect(new Set(saved.map((file) => file.path)).size).toBe(8);
    expect(saved.map((file) => readFileSync(file.path, 'utf8'))).toEqual(['0', '1', '2', '3', '4', '5', '6', '7']);
    expect(readdirSync(join(dir, 'shared/a'))).toContain('x-2.txt');
  });

  it('does not write through a link that lies where the file or its folder should be', async () => {
    const outside = join(dir, 'outside');
    mkdirSync(outside);
    mkdirSync(join(dir, 'shared'));
    symlinkSync(outside, join(dir, 'shared/attachments'));
    await expect(volume.saveNew('attachments', 'x', bytes('1'))).rejects.toMatchObject({ code: 'path_refused' });
    mkdirSync(join(dir, 'shared/b'));
    symlinkSync(join(outside, 'target'), join(dir, 'shared/b/x'));
    const saved = await volume.saveNew('b', 'x', bytes('1'));
    expect(saved.name).toBe('x-2');
    expect(readdirSync(outside)).toEqual([]);
  });
});

describe('names', () => {
  it.each([
    ['../../etc/passwd', 'etc-passwd'],
    ['a\u0000b\u202Ec.png', 'a-b-c.png'],
    ['.hidden', 'hidden'],
    ['', 'file'],
    ['...', 'file'],
    ['C:\\x.txt', 'C--x.txt'],
  ])('makes %j the safe %j', (name, safe) => expect(toFileName(name)).toBe(safe));

  it('keeps the extension of a name that is too long', () => {
    const name = toFileName(`${'é'.repeat(300)}.png`);
    expect(Buffer.byteLength(name)).toBeLessThanOrEqual(200);
    expect(name).toMatch(/é\.png$/);
  });
});

describe('resolving', () => {
  it.each(['a/b.txt', './a/b.txt'])('takes %s below the root', async (path) => {
    expect(await volume.resolve(path)).toBe(join(dir, 'shared/a/b.txt'));
  });

  it('takes an absolute path below the root', async () => {
    expect(await volume.resolve(join(dir, 'shared/x'))).toBe(join(dir, 'shared/x'));
  });

  it.each(['..', 'a/../../x', '/etc/passwd', 'a/../b', 'x\0y'])('refuses %j', async (path) => {
    await expect(volume.resolve(path)).rejects.toMatchObject({ code: 'path_refused' });
  });

  it('refuses a neighbour whose name begins like the root', async () => {
    await expect(volume.resolve(`${volume.root}-evil/x`)).rejects.toMatchObject({ code: 'path_refused' });
  });

  it('refuses a path through a link', async () => {
    mkdirSync(join(dir, 'shared'));
    writeFileSync(join(dir, 'secret'), 's');
    symlinkSync(join(dir, 'secret'), join(dir, 'shared/link'));
    await expect(volume.resolve('link')).rejects.toMatchObject({ code: 'path_refused' });
  });
});
