import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

// What a user gets from the registry: packed from the build that `npm test` has just made, installed into an empty folder.
const run = promisify(execFile);
const root = fileURLToPath(new URL('..', import.meta.url));
const bin = (name: string): string => join(root, 'node_modules/.bin', name);
const limitMs = 240_000;

let folder: string;
let tarball: string;
const inFolder = async (file: string, args: readonly string[]): Promise<{ stdout: string; stderr: string }> => {
  const env = { ...process.env, HOME: folder, NODE_OPTIONS: '', NO_COLOR: '1' };
  return run(file, [...args], { cwd: folder, env, maxBuffer: 64 * 1024 * 1024 });
};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gantry-pack-'));
  const packed = await run('npm', ['pack', '--json', '--pack-destination', folder], {
    cwd: join(root, 'packages/gantry'),
  });
  const [{ filename }] = JSON.parse(packed.stdout) as [{ filename: string }];
  tarball = join(folder, filename);
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  await inFolder('npm', ['install', '--no-audit', '--no-fund', '--silent', tarball, 'zod@4.6.7']);
}, limitMs);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the published package', () => {
  it('holds the build, the command and the licence, and neither sources nor tests', () => {
    const files = readdirSync(join(folder, 'node_modules/gantry'), { recursive: true, encoding: 'utf8' });
    expect(files).toEqual(expect.arrayContaining(['bin/gantry.js', 'dist/index.js', 'dist/index.d.ts', 'LICENSE']));
    expect(files.filter((file) => file.startsWith('src') || /\.test\./.test(file))).toEqual([]);
  });

  it(
    'runs as a library from every entry',
    async () => {
      writeFileSync(
        join(folder, 'use.js'),
        `import { createGantry, defineTool, outcomeText, silentLog } from 'gantry';
         import { mcp, mcpServers } from 'gantry/mcp';
         import { fakeClock } from 'gantry/testing';
         import * as z from 'zod';
         const tool = defineTool({ name: 'greet', description: 'Greets.', input: z.strictObject({ name: z.string() }), execute: ({ name }) => 'Hello ' + name });
         await using gantry = await createGantry({ dataDir: ':memory:', log: silentLog }).use(mcp({ config: 'none.json' })).start();
         gantry.tools.register(tool.registration, tool.executor);
         const servers = gantry.service(mcpServers).servers();
         console.log(outcomeText(await gantry.call('greet', { name: 'Ada' })), servers.length, fakeClock(5).nowMs());`,
      );
      const { stdout } = await inFolder(process.execPath, ['use.js']);
      expect(stdout.trim()).toBe('Hello Ada 0 5');
    },
    limitMs,
  );

  it(
    'types its arguments from the schema in a strict program',
    async () => {
      writeFileSync(
        join(folder, 'use.ts'),
        `import { defineTool, type Outcome } from 'gantry';
         import { mcp } from 'gantry/mcp';
         import * as z from 'zod';
         defineTool({ name: 'a', description: 'd', input: z.strictObject({ n: z.number() }), execute: ({ n }) => n.toFixed(1) });
         // @ts-expect-error: n is a number
         defineTool({ name: 'a', description: 'd', input: z.strictObject({ n: z.number() }), execute: ({ n }) => n.trim() });
         export const outcome: Outcome = { status: 'done', parts: [] };
         mcp({ stdio: 'launch' });`,
      );
      const options = [
        '--strict',
        '--exactOptionalPropertyTypes',
        '--module',
        'nodenext',
        '--target',
        'es2024',
        '--lib',
        'es2024,esnext.disposable',
      ];
      await inFolder(bin('tsc'), ['--noEmit', ...options, '--types', '', '--skipLibCheck', 'use.ts']);
    },
    limitMs,
  );

  it(
    'brings a command that answers',
    async () => {
      const gantry = join(folder, 'node_modules/.bin/gantry');
      expect((await inFolder(gantry, ['--version'])).stdout.trim()).toMatch(/^\d+\.\d+\.\d+$/);
      const listed = JSON.parse((await inFolder(gantry, ['tools', 'list', '--json'])).stdout) as {
        tools: { name: string }[];
      };
      expect(listed.tools.map((tool) => tool.name)).toContain('list_tool_guides');
    },
    limitMs,
  );

  it(
    'starts its workers from the build',
    async () => {
      const args = ['tools', 'call', 'execute_javascript_script', '--args', '{"script":"console.log(6*7)"}', '--json'];
      const called = JSON.parse((await inFolder(join(folder, 'node_modules/.bin/gantry'), args)).stdout) as object;
      expect(called).toMatchObject({ status: 'done', content: expect.stringContaining('42') });
    },
    limitMs,
  );

  it(
    'is well formed for every consumer',
    async () => {
      await run(process.execPath, [join(root, 'node_modules/publint/src/cli.js'), tarball, '--strict'], { cwd: root });
      await run(
        process.execPath,
        [join(root, 'node_modules/@arethetypeswrong/cli/dist/index.js'), tarball, '--profile', 'esm-only'],
        { cwd: root },
      );
    },
    limitMs,
  );
});
