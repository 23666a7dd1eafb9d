import { writeFileSync } from 'node:fs';
import { chmod, lstat, mkdir, mkdtemp, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Log } from '../../../kernel/log.ts';
import { silentLog } from '../../../kernel/log.ts';
import type { FakeClock } from '../../../testing/fake-clock.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import type { McpConfigFile, McpConfigFileOptions } from './config-file.ts';
import { createMcpConfigFile } from './config-file.ts';

const withUrl = (url: string): string => JSON.stringify({ mcpServers: { a: { id: 'aaaaaaaaaaaa', url } } });
const good = withUrl('https://a.example/mcp');

let folder: string;
let path: string;
let clock: FakeClock;
let config: McpConfigFile;

const open = (options: Partial<McpConfigFileOptions> = {}): McpConfigFile =>
  (config = createMcpConfigFile({ path, clock, log: silentLog, ...options }));
/** Polls until the edit is noticed: the file system tells of changes when it likes, polling when the clock says. */
const untilEdits = async (edits: () => number, wanted: number): Promise<void> => {
  while (edits() < wanted) await clock.advance(1_000);
};
const names = async (): Promise<string[]> => [...(await config.load()).entries.keys()];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-config-'));
  path = join(folder, 'mcp.json');
  clock = fakeClock();
});
afterEach(async () => {
  await config[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

describe('loading', () => {
  it('takes a missing file for an empty one', async () => {
    open();
    expect(await names()).toEqual([]);
    await expect(stat(path)).rejects.toThrow('ENOENT');
  });

  it('gives entries ids, once, and leaves comments and unknown fields in the file', async () => {
    await writeFile(
      path,
      '{\n  // ours\n  "mcpServers": { "a": { "url": "https://a.example/mcp", "note": "x" } }\n}\n',
    );
    open();
    const first = (await config.load()).entries.get('a')?.id;
    expect(first).toMatch(/^[0-9a-f]{12}$/);
    const text = await readFile(path, 'utf8');
    expect(text).toContain('// ours');
    expect(text).toContain('"note": "x"');
    expect((await config.load()).entries.get('a')?.id).toBe(first);
    expect(await readFile(path, 'utf8')).toBe(text);
  });

  it('uses the backup when the file is broken at start, and writes nothing', async () => {
    await writeFile(path, '{ broken');
    await writeFile(`${path}.bak`, good);
    open();
    expect(await config.load()).toMatchObject({ fromBackup: true, entries: new Map([['a', { id: 'aaaaaaaaaaaa' }]]) });
    expect(await readFile(path, 'utf8')).toBe('{ broken');
  });

  it('fails when file and backup are broken, or the backup is empty', async () => {
    await writeFile(path, '{ broken');
    open();
    await expect(config.load()).rejects.toMatchObject({ code: 'config_invalid' });
    for (const backup of ['{ broken too', '{"mcpServers":{}}']) {
      await writeFile(`${path}.bak`, backup);
      await expect(config.load()).rejects.toMatchObject({ code: 'config_invalid' });
    }
  });

  it('does not turn to the backup for an edit that breaks the file while servers run', async () => {
    await writeFile(path, good);
    await writeFile(`${path}.bak`, good);
    open();
    await config.load();
    await writeFile(path, '{ broken');
    await expect(config.load()).rejects.toMatchObject({ details: { file: 'mcp.json', line: 1 } });
  });

  it.each(['', ' \n'])('takes a file of %j for an empty one at the start only', async (nothing) => {
    await writeFile(path, nothing);
    open();
    expect(await names()).toEqual([]);
    expect(await names()).toEqual([]);
    await config.edit(() => [{ name: 'a', entry: { id: 'aaaaaaaaaaaa', url: 'https://a.example/mcp' } }]);
    expect(await names()).toEqual(['a']);
    await writeFile(path, nothing);
    await expect(config.load()).rejects.toThrow('mcp.json: not valid JSON (the file is empty)');
    await expect(config.edit(() => [{ name: 'b', entry: {} }])).rejects.toMatchObject({ code: 'config_invalid' });
    expect(await readFile(path, 'utf8')).toBe(nothing);
  });

  it('uses the backup when the file is empty at start', async () => {
    await writeFile(path, '');
    await writeFile(`${path}.bak`, good);
    open();
    expect(await config.load()).toMatchObject({ fromBackup: true, entries: new Map([['a', { id: 'aaaaaaaaaaaa' }]]) });
  });

  it('keeps an edit that comes while ids are written, and notices it', async () => {
    const edited = JSON.stringify({
      mcpServers: { a__b: { url: 'https://a.example/mcp' }, b: { url: 'https://b.example/mcp' } },
    });
    await writeFile(path, JSON.stringify({ mcpServers: { a__b: { url: 'https://a.example/mcp' } } }));
    // The warning about the name comes after the file was read and before the ids are written.
    const warn = (): void => writeFileSync(path, edited);
    open({ log: { ...silentLog, warn } });
    const { entries } = await config.load();
    const { mcpServers } = JSON.parse(await readFile(path, 'utf8')) as { mcpServers: Record<string, object> };
    expect(mcpServers).toEqual({ a__b: entries.get('a__b'), b: { url: 'https://b.example/mcp' } });
    let edits = 0;
    config.watchEdits(() => (edits += 1));
    await untilEdits(() => edits, 1);
  });

  it('leaves an entry alone that changed while ids are written', async () => {
    const edited = JSON.stringify({ mcpServers: { a__b: { url: 'https://other.example/mcp' } } });
    await writeFile(path, JSON.stringify({ mcpServers: { a__b: { url: 'https://a.example/mcp' } } }));
    open({ log: { ...silentLog, warn: () => writeFileSync(path, edited) } });
    await config.load();
    expect(await readFile(path, 'utf8')).toBe(edited);
  });

  it('takes no entry out of the file that says something of its own, or has a name that none can have', async () => {
    const url = 'https://a.example/mcp';
    const text = `{"mcpServers": {
      "a": { "id": "aaaaaaaaaaaa", "url": "${url}" },
      "b": { "id": "bbbbbbbbbbbb", "url": "${url}", "argGuards": [{ "handler": "path-perfix" }] },
      "c": { "id": "cccccccccccc", "url": "${url}", "disabled": true },
      "": { "url": "${url}" }, "__proto__": { "url": "${url}" },
    }}`;
    await writeFile(path, text);
    open({ defaultServers: { '': url } });
    const { entries, doubles, refused } = await config.load();
    expect([[...entries.keys()], [...doubles.keys()]]).toEqual([['a', 'c', 'b'], ['b']]);
    expect([...refused.keys()]).toEqual(['__proto__', '']);
    expect(await readFile(path, 'utf8')).toBe(text);
  });

  it('takes out of the file what a model registered of a server that the operator has', async () => {
    const url = 'https://a.example/mcp';
    const own = { id: 'bbbbbbbbbbbb', url, toolTimeoutMs: 5 };
    const registered = { id: 'aaaaaaaaaaaa', origin: 'agent', type: 'sse', url };
    await writeFile(path, JSON.stringify({ mcpServers: { a: registered, b: own } }));
    open();
    expect(await names()).toEqual(['b']);
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({ mcpServers: { b: own } });
  });

  it('honours an explicitly empty map', async () => {
    await writeFile(path, '{"mcpServers":{}}');
    await writeFile(`${path}.bak`, good);
    open();
    expect(await names()).toEqual([]);
  });

  it('seeds default servers into the file, and not over an entry that cannot be read', async () => {
    const broken = JSON.stringify({ mcpServers: { docs: { url: 5 } } });
    await writeFile(path, broken);
    open({ defaultServers: { docs: 'https://docs.example/mcp' } });
    expect((await config.load()).refused.has('docs')).toBe(true);
    expect(await readFile(path, 'utf8')).toBe(broken);
    await writeFile(path, '{"mcpServers":{}}');
    expect(await names()).toEqual(['docs']);
    expect(await readFile(path, 'utf8')).toContain('"url": "https://docs.example/mcp"');
  });

  it('goes on when the file cannot be written, with a warning', async () => {
    await writeFile(path, '{"mcpServers":{"a":{"url":"https://a.example/mcp"}}}');
    const warnings: string[] = [];
    const log: Log = { ...silentLog, warn: (_facts, message) => void warnings.push(message) };
    open({ log });
    // A folder where the temporary file should go lets nobody write there, not even root.
    await mkdir(`${path}.tmp`);
    expect(await names()).toEqual(['a']);
    expect(warnings).toEqual(['ids of servers could not be written to the file']);
  });
});

describe('writing an entry', () => {
  it('keeps the old text as backup, who may read the file, and a link as a link', async () => {
    const target = join(folder, 'real.json');
    await writeFile(target, good);
    await chmod(target, 0o600);
    await symlink(target, path);
    open();
    await config.edit(() => [{ name: 'b', entry: { url: 'https://b.example/mcp' } }]);
    expect(await readFile(`${path}.bak`, 'utf8')).toBe(good);
    expect(await names()).toEqual(['a', 'b']);
    expect((await lstat(path)).isSymbolicLink()).toBe(true);
    expect((await stat(target)).mode & 0o777).toBe(0o600);
  });

  it('removes an entry, and makes several changes one after another', async () => {
    await writeFile(path, good);
    open();
    await Promise.all([
      config.edit(() => [{ name: 'b', entry: { url: 'https://b.example/mcp' } }]),
      config.edit(() => [{ name: 'c', entry: { url: 'https://c.example/mcp' } }]),
      config.edit(() => [{ name: 'a', entry: undefined }]),
    ]);
    expect(await names()).toEqual(['b', 'c']);
  });

  it('decides again when somebody changes the file in between, and gives up on one that never rests', async () => {
    await writeFile(path, good);
    open();
    let asked = 0;
    const entry = { id: 'bbbbbbbbbbbb', url: 'https://b.example/mcp' };
    const afterEdits = (wanted: number) => () => {
      if (asked < wanted) writeFileSync(path, withUrl(`https://edit-${asked}.example/mcp`));
      asked += 1;
      return [{ name: 'b', entry }];
    };
    await config.edit(afterEdits(1));
    expect(asked).toBe(2);
    const { entries } = await config.load();
    expect([entries.get('a')?.url, entries.get('b')]).toEqual(['https://edit-0.example/mcp', entry]);
    await expect(config.edit(afterEdits(Infinity))).rejects.toMatchObject({ code: 'revision_conflict' });
  });

  it('refuses to write over a broken file, which stays as it is', async () => {
    await writeFile(path, '{ broken');
    open();
    await expect(config.edit(() => [{ name: 'b', entry: { url: 'https://b.example/mcp' } }])).rejects.toMatchObject({
      code: 'config_invalid',
    });
    expect(await readFile(path, 'utf8')).toBe('{ broken');
  });
});

describe('watching', () => {
  it('notices an edit in place and a file renamed into place, each once', async () => {
    await writeFile(path, good);
    open();
    await config.load();
    let edits = 0;
    config.watchEdits(() => (edits += 1));
    await writeFile(path, withUrl('https://longer.example/mcp'));
    await untilEdits(() => edits, 1);
    await writeFile(`${path}.new`, withUrl('https://another-one.example/mcp'));
    await rename(`${path}.new`, path);
    await untilEdits(() => edits, 2);
    for (let second = 0; second < 20; second += 1) await clock.advance(1_000);
    expect(edits).toBe(2);
  });

  it('does not take its own write for an edit', async () => {
    await writeFile(path, good);
    open();
    await config.load();
    let edits = 0;
    config.watchEdits(() => (edits += 1));
    await config.edit(() => [{ name: 'b', entry: { url: 'https://b.example/mcp' } }]);
    for (let second = 0; second < 20; second += 1) await clock.advance(1_000);
    expect(edits).toBe(0);
  });

  it('looks at a broken file again only when it changes again', async () => {
    await writeFile(path, good);
    open();
    await config.load();
    let edits = 0;
    config.watchEdits(() => {
      edits += 1;
      config.load().catch(() => undefined);
    });
    await writeFile(path, '{ broken');
    await untilEdits(() => edits, 1);
    for (let second = 0; second < 20; second += 1) await clock.advance(1_000);
    expect(edits).toBe(1);
  });

  it('says nothing once it is disposed', async () => {
    await writeFile(path, good);
    open();
    await config.load();
    let edits = 0;
    config.watchEdits(() => (edits += 1));
    await config[Symbol.asyncDispose]();
    await writeFile(path, withUrl('https://longer.example/mcp'));
    for (let second = 0; second < 20; second += 1) await clock.advance(1_000);
    expect(edits).toBe(0);
  });
});
