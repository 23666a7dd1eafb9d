import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createVolume } from '../../../volume/volume.ts';
import type { AttachmentStorage } from './attachment-storage.ts';
import { createAttachmentStorage } from './attachment-storage.ts';

let root: string;
let storage: AttachmentStorage;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'gantry-attachments-'));
  storage = createAttachmentStorage(createVolume(root));
});
afterEach(() => rmSync(root, { recursive: true }));

const read = async (path: string): Promise<string> => {
  await using file = await storage.open(path);
  return Buffer.from(await file.read()).toString();
};

describe('a path', () => {
  beforeEach(() => {
    mkdirSync(join(root, 'attachments/sub'), { recursive: true });
    mkdirSync(join(root, 'attachments-evil'));
    writeFileSync(join(root, 'attachments/foo.pdf'), 'foo');
    writeFileSync(join(root, 'attachments/sub/bar.pdf'), 'bar');
    writeFileSync(join(root, 'attachments-evil/x'), 'evil');
    writeFileSync(join(root, 'secret'), 'secret');
    symlinkSync(join(root, 'secret'), join(root, 'attachments/link'));
  });

  it('reads the same file in every spelling', async () => {
    for (const path of [
      'foo.pdf',
      './foo.pdf',
      'attachments/foo.pdf',
      'attachments\\foo.pdf',
      join(root, 'attachments/foo.pdf'),
    ])
      expect(await read(path)).toBe('foo');
    expect(await read('attachments/sub/bar.pdf')).toBe('bar');
  });

  it.each([
    '',
    ' ',
    '.',
    'attachments/',
    '../secret',
    'attachments/../../secret',
    'attachments/../secret',
    '/etc/passwd',
    'sub/../../secret',
    'link',
    'none.pdf',
    'sub',
  ])('%j is refused', async (path) => {
    await expect(storage.open(path)).rejects.toMatchObject({ code: 'path_refused' });
  });

  it.each(['attachments-evil/x', 'secret', 'attachments/../secret', 'attachments'])(
    'that is absolute, {root}/%s, is refused',
    async (path) => {
      await expect(storage.open(join(root, path))).rejects.toMatchObject({ code: 'path_refused' });
    },
  );

  it('gives a file in pieces as often as it is asked', async () => {
    await using file = await storage.open('foo.pdf');
    for (let time = 0; time < 2; time += 1) {
      const pieces: Uint8Array[] = [];
      for await (const piece of file.chunks()) pieces.push(piece);
      expect(Buffer.concat(pieces).toString()).toBe('foo');
    }
  });
});

describe('a name that a stranger chose', () => {
  it.each([
    ['report.pdf', 'report.pdf'],
    ['../../etc/passwd', 'passwd'],
    ['C:\\temp\\a.txt', 'a.txt'],
    ['a<b>:c?.txt', 'a_b__c_.txt'],
    ['  ', 'attachment'],
    ['..', 'attachment'],
    ['folder/', 'attachment'],
  ])('%j is saved as %j', async (name, saved) => {
    expect(await storage.save(name, Buffer.from('x'))).toEqual({
      path: join(root, 'attachments', saved),
      name: saved,
      size: 1,
    });
  });

  it('gets a number when it is taken, also by many writers at once', async () => {
    const writes = Array.from({ length: 5 }, (_, index) => storage.save('a.txt', Buffer.from(`${index}`)));
    const names = (await Promise.all(writes)).map(({ name }) => name);
    expect(names.toSorted()).toEqual(['a-2.txt', 'a-3.txt', 'a-4.txt', 'a-5.txt', 'a.txt']);
    const texts = readdirSync(storage.folder).map((name) => readFileSync(join(storage.folder, name), 'utf8'));
    expect(texts.toSorted()).toEqual(['0', '1', '2', '3', '4']);
  });
});
