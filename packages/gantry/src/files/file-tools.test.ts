import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../kernel/json.ts';
import { makeInvoker, registryOf } from '../testing/make-invoker.ts';
import { outcomeText } from '../tool/outcome-text.ts';
import type { FileVolume } from '../volume/volume.ts';
import { createVolume } from '../volume/volume.ts';
import { fileGuide } from './file-guide.ts';
import { sizeText } from './file-texts.ts';
import { fileTools } from './file-tools.ts';

let dir: string;
let root: string;
let volume: FileVolume;
let call: (name: string, args?: JsonObject) => Promise<string>;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'gantry-files-'));
  root = join(dir, 'shared');
  mkdirSync(root);
  volume = createVolume(root);
  const invoker = makeInvoker(registryOf(...fileTools(volume, { maxWriteBytes: 1000 })));
  call = async (name, args = {}) => {
    const outcome = await invoker.invoke({ name, arguments: args }, { caller: 'model', namespace: 'session/1' });
    return `${outcome.status === 'failed' ? `${outcome.failure.code}: ` : ''}${outcomeText(outcome)}`;
  };
});
afterEach(() => rmSync(dir, { recursive: true }));

const put = (path: string, content: string | Uint8Array): void => {
  mkdirSync(join(root, path, '..'), { recursive: true });
  writeFileSync(join(root, path), content);
};

describe('file_list', () => {
  it('shows folders, files with sizes, and links that it does not follow', async () => {
    put('a.txt', 'abc');
    put('b/c/d.txt', '1');
    symlinkSync(dir, join(root, 'z'));
    const text = await call('file_list');
    expect(text.replaceAll(/\d{4}-[^)]*Z/g, 'TIME')).toBe(
      ['3 entries in the shared folder:', '- a.txt (3 bytes, TIME)', '- b/', '- z (a link; not followed)'].join('\n'),
    );
    expect(await call('file_list', { path: 'b', depth: 2 })).toContain('- b/c/d.txt (1 byte,');
    expect(await call('file_list', { path: '/' })).toBe(text);
    expect(await call('file_list', { path: join(root, 'b') })).toContain('- b/c/');
  });

  it('says when there is nothing, and when there is more than it shows', async () => {
    expect(await call('file_list')).toBe('There is nothing in the shared folder.');
    for (let number = 0; number < 501; number += 1) put(`f${number}`, '');
    const text = await call('file_list');
    expect(text).toContain('The first 500 entries');
    expect(text).toContain('There is more');
  });

  it('does not let a name pass for an entry of its own', async () => {
    put('a\n- fake (1 byte)', '');
    expect((await call('file_list')).split('\n')).toHaveLength(2);
  });
});

describe('file_read', () => {
  it('gives a whole text', async () => {
    put('a.txt', 'one\r\ntwo\nthree');
    expect(await call('file_read', { path: 'a.txt' })).toBe('`a.txt` (14 bytes), all 3 lines.\n\none\ntwo\nthree');
  });

  it('gives the lines that are asked for, and says how to go on', async () => {
    put('a.txt', 'one\ntwo\nthree\nfour\n');
    expect(await call('file_read', { path: 'a.txt', offset: 2, limit: 2 })).toBe(
      '`a.txt` (19 bytes), lines 2 to 3 of 4. Go on with offset 4.\n\ntwo\nthree',
    );
    expect(await call('file_read', { path: 'a.txt', offset: 4 })).toContain('lines 4 to 4 of 4.\n\nfour');
    expect(await call('file_read', { path: 'a.txt', offset: 5 })).toBe(
      '`a.txt` (19 bytes) has 4 lines; there is no line 5.',
    );
  });

  it('cuts what is too much for one answer', async () => {
    put('long.txt', `${'x'.repeat(150_000)}\n${'y'.repeat(150_000)}\n${'z'.repeat(300_000)}\nend`);
    const first = await call('file_read', { path: 'long.txt' });
    expect(first).toContain('lines 1 to 1 of 4. Go on with offset 2.');
    const third = await call('file_read', { path: 'long.txt', offset: 3 });
    expect(third).toContain('lines 3 to 3 of 4. Cut, since too long: line 3. Go on with offset 4.');
    expect(third.length).toBeLessThan(201_000);
  });

  it('reads the beginning of a file that is larger than memory should hold', async () => {
    put('big.txt', 'first\nsecond\n');
    truncateSync(join(root, 'big.txt'), 3_000_000_000);
    const text = await call('file_read', { path: 'big.txt', limit: 1 });
    expect(text).toContain('no text');
    put('log.txt', 'line of a log\n'.repeat(2_000_000));
    expect(await call('file_read', { path: 'log.txt', limit: 1 })).toBe(
      '`log.txt` (28 MB), lines 1 to 1. Go on with offset 2.\n\nline of a log',
    );
  });

  it('reads characters that lie across the pieces it reads, and other encodings', async () => {
    put('wide.txt', `${'a'.repeat(65_535)}é\nü`);
    expect(await call('file_read', { path: 'wide.txt', offset: 2 })).toContain('\n\nü');
    expect(await call('file_read', { path: 'wide.txt', limit: 1 })).toMatch(/aé$/);
    put('utf16.txt', Buffer.from('\uFEFFgrün\nblau', 'utf16le'));
    expect(await call('file_read', { path: 'utf16.txt' })).toContain('utf-16le), all 2 lines.\n\ngrün\nblau');
    put('latin.txt', Buffer.from('gr\xfcn', 'latin1'));
    expect(await call('file_read', { path: 'latin.txt' })).toContain('grün');
  });

  it('describes what is no text, and says that a file is empty', async () => {
    put('x.png', Buffer.from('89504e470d0a1a0a00', 'hex'));
    expect(await call('file_read', { path: 'x.png' })).toContain('`x.png` is no text: image/png, 9 bytes.');
    put('empty', '');
    expect(await call('file_read', { path: 'empty' })).toBe('`empty` (0 bytes) is empty.');
  });

  it.each([
    ['none', 'does not exist'],
    ['.', 'is a folder'],
    ['../secret', 'contains ".."'],
    ['link', 'leads through a link'],
    ['/etc/passwd', 'is outside the shared folder'],
  ])('refuses %s', async (path, why) => {
    writeFileSync(join(dir, 'secret'), 's');
    symlinkSync(join(dir, 'secret'), join(root, 'link'));
    const text = await call('file_read', { path });
    expect(text).toMatch(/^invalid_arguments: /);
    expect(text).toContain(why);
  });
});

it('tells who wants a file elsewhere which tools there are for it, and nobody else', async () => {
  let elsewhere: string | undefined = 'Look with list_servers.';
  const invoker = makeInvoker(registryOf(...fileTools(volume, { maxWriteBytes: 1000, elsewhere: () => elsewhere })));
  const said = async (name: string, args: JsonObject): Promise<string> =>
    outcomeText(await invoker.invoke({ name, arguments: args }, { caller: 'model' }));
  for (const [name, args] of [
    ['file_read', { path: '/etc/passwd' }],
    ['file_write', { path: '/etc/passwd', content: 'x' }],
    ['file_list', { path: '/etc' }],
    ['file_search', { path: '/etc', query: 'x' }],
  ] as const)
    expect(await said(name, args)).toMatch(
      /outside the shared folder.* files elsewhere are for tools of MCP servers\. Look with list_servers\.$/,
    );
  expect(await said('file_read', { path: 'none' })).not.toContain('elsewhere');
  expect(await said('file_read', { path: '../x' })).not.toContain('elsewhere');
  elsewhere = undefined;
  expect(await said('file_read', { path: '/etc/passwd' })).not.toContain('elsewhere');
});

describe('file_write', () => {
  it('writes, and replaces only when told to', async () => {
    const path = join(root, 'a/b.md');
    expect(await call('file_write', { path: 'a/b.md', content: 'grün' })).toBe(`Wrote \`${path}\` (5 bytes).`);
    expect(await call('file_write', { path: 'a/b.md', content: 'x' })).toContain('is there already; set overwrite');
    expect(readFileSync(path, 'utf8')).toBe('grün');
    await call('file_write', { path: 'a/b.md', content: 'x', overwrite: true });
    expect(readFileSync(path, 'utf8')).toBe('x');
  });

  it('refuses a text that is too large', async () => {
    expect(await call('file_write', { path: 'a', content: 'x'.repeat(1001) })).toContain(
      'invalid_arguments: content is 1.0 KB, more than the 1.0 KB',
    );
    expect(await call('file_list')).toContain('nothing');
  });
});

describe('file_search', () => {
  it('finds names and lines, ignoring case, and takes the text as it stands', async () => {
    put('notes/plan.md', 'First\nBuy (milk).*\n');
    put('Milk.txt', 'none');
    put('x.bin', Buffer.from('milk\0'));
    expect(await call('file_search', { query: 'MILK' })).toBe(
      ['2 places in the shared folder:', '- Milk.txt (name)', '- notes/plan.md:2: Buy (milk).*'].join('\n'),
    );
    expect(await call('file_search', { query: '(milk).*', path: 'notes' })).toContain('1 place in `notes`:');
    expect(await call('file_search', { query: '.*' })).toContain('1 place');
    expect(await call('file_search', { query: 'bread' })).toBe(
      'Nothing in the shared folder matches "bread" (3 files searched).',
    );
  });

  it('shows the part of a long line that matches, and stops when there is too much', async () => {
    put('long.txt', `${'x'.repeat(5000)} needle ${'y'.repeat(5000)}`);
    const text = await call('file_search', { query: 'needle' });
    expect(text).toContain(' needle y');
    expect(text.length).toBeLessThan(300);
    for (let number = 0; number < 15; number += 1) put(`n${number}`, 'needle\n'.repeat(50));
    const many = await call('file_search', { query: 'needle' });
    expect(many.split('\n').filter((line) => line.startsWith('- '))).toHaveLength(100);
    expect(many).toContain('There may be more');
  });

  it('says what it did not search', async () => {
    put('big.txt', 'needle\n'.repeat(1_000_000));
    expect(await call('file_search', { query: 'needle' })).toContain('Not searched, since too large: big.txt.');
  });
});

it.each([
  [1, '1 byte'],
  [999, '999 bytes'],
  [3100, '3.1 KB'],
  [12_345_678, '12 MB'],
  [2e9, '2.0 GB'],
])('says %i bytes as %s', (bytes, text) => expect(sizeText(bytes)).toBe(text));

it('names every tool in the guide', () => {
  const text = fileGuide(root).getDocument();
  for (const tool of fileTools(volume, { maxWriteBytes: 1 })) expect(text).toContain(`\`${tool.registration.name}(`);
  expect(text).toContain(root);
});
