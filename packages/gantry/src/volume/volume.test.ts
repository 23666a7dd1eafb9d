import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { toFileName } from './file-name.ts';
import type { FileVolume } from './volume.ts';
import { createVolume } from './volume.ts';

let dir: string;
let volume: FileVolume;
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

describe('writing at a path', () => {
  it('makes the folders above it, and refuses to replace a file unless told to', async () => {
    const saved = await volume.write('a/b/x.txt', bytes('one'));
    expect(saved).toEqual({ path: join(dir, 'shared/a/b/x.txt'), name: 'x.txt', size: 3 });
    await expect(volume.write('a/b/x.txt', bytes('two'))).rejects.toThrow('is there already; set overwrite');
    await volume.write(saved.path, bytes('two'), { overwrite: true });
    expect(readFileSync(saved.path, 'utf8')).toBe('two');
    expect(readdirSync(join(dir, 'shared/a/b'))).toEqual(['x.txt']);
  });

  it.each([
    ['', 'is a folder'],
    ['a/', 'is a folder'],
    ['folder', 'is a folder'],
    ['file/x', 'leads through a file'],
    ['a\nb', 'holds control characters'],
    ['x'.repeat(300), 'has a name that is too long'],
    ['../x', 'contains ".."'],
    ['linked/x', 'leads through a link'],
  ])('refuses %j', async (path, why) => {
    mkdirSync(join(dir, 'shared/folder'), { recursive: true });
    writeFileSync(join(dir, 'shared/file'), 'f');
    symlinkSync(dir, join(dir, 'shared/linked'));
    for (const overwrite of [false, true])
      await expect(volume.write(path, bytes('1'), { overwrite })).rejects.toThrow(why);
    expect(readdirSync(dir)).toEqual(['shared']);
  });

  it('replaces a link itself, not what it points to', async () => {
    mkdirSync(join(dir, 'shared'));
    writeFileSync(join(dir, 'secret'), 's');
    symlinkSync(join(dir, 'secret'), join(dir, 'shared/x'));
    await expect(volume.write('x', bytes('1'))).rejects.toThrow('is there already');
    await volume.write('x', bytes('1'), { overwrite: true });
    expect(readFileSync(join(dir, 'secret'), 'utf8')).toBe('s');
    expect(readFileSync(join(dir, 'shared/x'), 'utf8')).toBe('1');
  });
});

describe('opening', () => {
  it('opens a file for reading', async () => {
    const { path } = await volume.write('a/x', bytes('text'));
    for (const given of ['a/x', path]) {
      await using file = await volume.openFile(given);
      expect(await file.readFile('utf8')).toBe('text');
    }
  });

  it.each([
    ['none', 'does not exist'],
    ['none/x', 'does not exist'],
    ['', 'is a folder'],
    ['folder', 'is a folder'],
    ['link', 'leads through a link'],
    ['linked/secret', 'leads through a link'],
    ['/etc/passwd', 'is outside the shared folder'],
  ])('refuses %j', async (path, why) => {
    mkdirSync(join(dir, 'shared/folder'), { recursive: true });
    writeFileSync(join(dir, 'secret'), 's');
    symlinkSync(join(dir, 'secret'), join(dir, 'shared/link'));
    symlinkSync(dir, join(dir, 'shared/linked'));
    await expect(volume.openFile(path)).rejects.toThrow(why);
  });
});

describe('saving chunks', () => {
  const chunks = async function* (...texts: string[]): AsyncGenerator<Uint8Array> {
    for (const text of texts) yield bytes(text);
  };

  it('writes them one after another under a free name', async () => {
    await volume.write('a/x.txt', bytes('old'));
    const saved = await volume.saveNewFrom('a', 'x.txt', chunks('ab', 'c'), { maxBytes: 3 });
    expect(saved).toEqual({ path: join(dir, 'shared/a/x-2.txt'), name: 'x-2.txt', size: 3 });
    expect(readFileSync(saved.path, 'utf8')).toBe('abc');
  });

  it('leaves nothing of a file that is too large or breaks off', async () => {
    const broken = async function* (): AsyncGenerator<Uint8Array> {
      yield bytes('ab');
      throw new Error('cut off');
    };
    await expect(volume.saveNewFrom('a', 'x', chunks('ab', 'cd'), { maxBytes: 3 })).rejects.toThrow('larger than 3');
    await expect(volume.saveNewFrom('a', 'y', broken(), { maxBytes: 3 })).rejects.toThrow('cut off');
    expect(readdirSync(join(dir, 'shared/a'))).toEqual([]);
  });
});

describe('removing', () => {
  it('takes a file away, and one that is gone already is no error', async () => {
    await volume.write('a/x.txt', bytes('1'));
    await volume.remove('a/x.txt');
    await volume.remove('a/x.txt');
    expect(readdirSync(join(dir, 'shared/a'))).toEqual([]);
  });

  it('refuses links, folders and what lies outside', async () => {
    mkdirSync(join(dir, 'shared/folder'), { recursive: true });
    writeFileSync(join(dir, 'secret'), 's');
    symlinkSync(join(dir, 'secret'), join(dir, 'shared/link'));
    for (const path of ['link', 'folder', '', '../secret'])
      await expect(volume.remove(path)).rejects.toMatchObject({ code: 'path_refused' });
    expect(readFileSync(join(dir, 'secret'), 'utf8')).toBe('s');
  });
});

describe('listing', () => {
  beforeEach(async () => {
    await volume.write('b/c/deep.txt', bytes('1'));
    await volume.write('b/x.txt', bytes('22'));
    await volume.write('a.txt', bytes('333'));
    symlinkSync(dir, join(dir, 'shared/link'));
  });
  const paths = async (folder: string, depth: number, maxEntries = 100): Promise<string[]> =>
    (await volume.list(folder, { depth, maxEntries })).entries.map(({ path, kind }) => `${path} ${kind}`);

  it('goes as deep as asked and does not enter links', async () => {
    expect(await paths('', 1)).toEqual(['a.txt file', 'b folder', 'link link']);
    expect(await paths('.', 2)).toEqual(['a.txt file', 'b folder', 'b/c folder', 'b/x.txt file', 'link link']);
    expect(await paths('b', 9)).toEqual(['b/c folder', 'b/c/deep.txt file', 'b/x.txt file']);
    expect((await volume.list('', { depth: 1, maxEntries: 9 })).entries[0]?.size).toBe(3);
  });

  it('says when there is more than it may give', async () => {
    expect(await volume.list('', { depth: 9, maxEntries: 6 })).toMatchObject({ isComplete: true });
    const { entries, isComplete } = await volume.list('', { depth: 9, maxEntries: 3 });
    expect(entries).toHaveLength(3);
    expect(isComplete).toBe(false);
  });

  it.each([
    ['none', 'does not exist'],
    ['a.txt', 'leads through a file'],
    ['link', 'leads through a link'],
    ['..', 'contains ".."'],
  ])('refuses %s', async (folder, why) => {
    await expect(volume.list(folder, { depth: 1, maxEntries: 9 })).rejects.toThrow(why);
  });

  it('gives nothing for a shared folder that nobody has used', async () => {
    expect(await createVolume(join(dir, 'new')).list('', { depth: 1, maxEntries: 9 })).toEqual({
      entries: [],
      isComplete: true,
    });
  });
});
