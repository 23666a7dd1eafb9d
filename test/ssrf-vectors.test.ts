import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { Vector } from './ssrf-vectors/judge.ts';
import { judgeVector } from './ssrf-vectors/judge.ts';

const { vectors } = JSON.parse(await readFile(new URL('data/ssrf-vectors.json', import.meta.url), 'utf8')) as {
  vectors: readonly Vector[];
};

describe('the guard gives every address vector its verdict', () => {
  it.each(vectors.map((vector) => [vector.id, vector] as const))('%s', async (_id, vector) => {
    expect(await judgeVector(vector)).toMatchObject({ result: 'passed' });
  });
});

const runFile = async (rows: readonly Partial<Vector>[]): Promise<{ code: number; output: string }> => {
  const dir = await mkdtemp(join(tmpdir(), 'gantry-vectors-'));
  try {
    const file = join(dir, 'vectors.json');
    await writeFile(file, JSON.stringify({ vectors: rows }));
    const runner = new URL('ssrf-vectors/run.ts', import.meta.url).pathname;
    const { stdout } = await promisify(execFile)('node', ['--conditions=gantry-source', runner, file]);
    return { code: 0, output: stdout };
  } catch (thrown) {
    const failed = thrown as { code: number; stdout: string };
    return { code: failed.code, output: failed.stdout };
  } finally {
    await rm(dir, { recursive: true });
  }
};

describe('npm run ssrf-vectors', () => {
  it('names a wrong vector and fails', async () => {
    const { code, output } = await runFile([
      { id: 'x1', kind: 'address', address: '8.8.8.8', verdict: 'block', level: 'must' },
      { id: 'x2', kind: 'address', address: '8.8.8.8', verdict: 'allow', level: 'must' },
    ]);
    expect(code).toBe(1);
    expect(output).toContain('x1: wanted block, got allow');
    expect(output).toContain('1 passed, 1 failed, 0 not covered');
  });

  it('reports a recommendation apart, but not a forbidden connection', async () => {
    const recommended = { id: 'x1', kind: 'url', url: 'http://a.example/', level: 'should' } as const;
    const dns = { 'a.example': [['93.184.215.14']] };
    expect(
      await runFile([
        { ...recommended, dns, verdict: 'block' },
        { id: 'x2', kind: 'smell' },
      ]),
    ).toEqual({
      code: 0,
      output: expect.stringMatching(/x1 \(recommended only\)[^]*0 passed, 0 failed, 1 not covered/),
    });
    const forbidden = { ...recommended, dns, verdict: 'allow', mustNotConnect: ['93.184.215.14'] } as const;
    expect(await runFile([forbidden])).toMatchObject({ code: 1 });
  });
});
