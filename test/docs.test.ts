import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { generateDocs } from '../scripts/generate-docs.ts';

const root = resolve(import.meta.dirname, '..');
const examples = join(root, 'packages/examples/src');

describe('the documentation', () => {
  it('is what "npm run docs" writes', async () => {
    for (const [path, text] of await generateDocs()) expect(await readFile(join(root, path), 'utf8'), path).toBe(text);
  });

  it('links to files that are there', async () => {
    const missing: string[] = [];
    for (const [path, text] of await generateDocs())
      for (const [, target] of text.matchAll(/\]\((?!https?:|#)([^)#]+)/g)) {
        const file = resolve(root, path, '..', target as string);
        const isThere = await readdir(file).then(
          () => true,
          () =>
            readFile(file).then(
              () => true,
              () => false,
            ),
        );
        if (!isThere) missing.push(`${path}: ${target}`);
      }
    expect(missing).toEqual([]);
  });
});

describe('the examples', async () => {
  it.each(await readdir(examples))('%s runs and ends well', async (file) => {
    await promisify(execFile)(process.execPath, ['--conditions=gantry-source', join(examples, file)], {
      timeout: 50_000,
    });
  });
});
