import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createVolume } from '../../volume/volume.ts';
import type { MemoryEntry } from '../../memory/working-memory.ts';
import { readInputs } from './read-inputs.ts';

let folder: string;
let kept: Record<string, string>;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gantry-inputs-'));
  kept = {};
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const toEntry = ([key, text]: readonly [string, string]): MemoryEntry => ({
  key,
  text,
  savedAtMs: 0,
  expiresAtMs: 1,
});
const read = (...names: string[]): Promise<string> =>
  readInputs(names, 'session/s1', {
    memory: {
      get: async (key) =>
        Object.entries(kept)
          .map(toEntry)
          .find((entry) => entry.key === key),
      list: async (path) =>
        Object.entries(kept)
          .map(toEntry)
          .filter(({ key }) => key.startsWith(`${path}/`)),
    },
    volume: createVolume(folder),
  });

it('gives texts of working memory, of the own namespace and by full key, and of files', async () => {
  kept = { 'session/s1/plan': 'my plan', 'shared/rules': 'the rules' };
  writeFileSync(join(folder, 'notes.txt'), 'from a file');
  expect(await read('plan', 'shared/rules', 'notes.txt', join(folder, 'notes.txt'))).toBe(
    [
      '<input name="plan">\nmy plan\n</input>',
      '<input name="shared/rules">\nthe rules\n</input>',
      '<input name="notes.txt">\nfrom a file\n</input>',
      `<input name="${join(folder, 'notes.txt')}">\nfrom a file\n</input>`,
    ].join('\n'),
  );
});

it('names all that do not exist, with what was probably meant', async () => {
  kept = { 'session/s1/report': 'x' };
  writeFileSync(join(folder, 'budget.csv'), 'x');
  await expect(read('report', 'reprot', 'bugdet.csv', '../etc/passwd', ' ')).rejects.toMatchObject({
    code: 'invalid_arguments',
    message: expect.stringMatching(
      /"reprot" \(did you mean .*"report".*\); "bugdet\.csv" \(did you mean "budget\.csv"\?\); "\.\.\/etc\/passwd"/,
    ) as string,
  });
});

it('cuts what is long and says where the rest is', async () => {
  kept = { 'session/s1/long': 'x'.repeat(20_000) };
  writeFileSync(join(folder, 'long.txt'), 'ä'.repeat(40_000));
  const text = await read('long', 'long.txt');
  expect(text.length).toBeLessThan(17_000);
  expect(text).toContain('[cut here; the whole of it: get_from_working_memory("session/s1/long")]');
  expect(text).toContain('[cut here; the whole of it: file_read("long.txt")]');
});

it('stays within a budget however many there are', async () => {
  for (let at = 0; at < 10; at += 1) kept[`session/s1/k${at}`] = 'y'.repeat(7_000);
  const text = await read(...Object.keys(kept).map((key) => key.slice('session/s1/'.length)));
  expect(text.length).toBeLessThan(26_000);
  expect(text).toContain('get_from_working_memory("session/s1/k9")');
});

it('names a file that is no text without its bytes', async () => {
  writeFileSync(join(folder, 'a.png'), Buffer.from([0x89, 0x50, 0xff, 0x00]));
  writeFileSync(join(folder, 'b.bin'), Buffer.from([0x41, 0x00, 0x42]));
  expect(await read('a.png', 'b.bin')).toBe(
    '<input name="a.png">\nNo text; its path is for your tools.\n</input>\n<input name="b.bin">\nNo text; its path is for your tools.\n</input>',
  );
});
