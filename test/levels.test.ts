import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { findLevelBreaks } from '../scripts/levels.ts';

const made: string[] = [];
afterEach(() => {
  for (const dir of made.splice(0)) rmSync(dir, { recursive: true });
});

const tree = (files: Record<string, string>): string => {
  const dir = mkdtempSync(join(tmpdir(), 'gantry-levels-'));
  made.push(dir);
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, file)), { recursive: true });
    writeFileSync(join(dir, file), text);
  }
  return dir;
};

it('accepts imports of rooms on smaller levels, of the own room, and of testing in tests', () => {
  const dir = tree({
    'invoke/a.ts': "import { b } from '../tool/b.ts';\nimport type { c } from './c.ts';",
    'invoke/a.test.ts': "import { fakeClock } from '../testing/fake-clock.ts';",
    'mcp/bridge/a.ts': "import type { w } from '../wire/w.ts';",
  });
  expect(findLevelBreaks(dir)).toEqual([]);
});

it.each([
  ['a room on a larger level', 'tool/a.ts', "import { x } from '../invoke/x.ts';", ['"tool"', '"invoke"']],
  [
    'a room on the same level, as a type',
    'text/a.ts',
    "import type { x } from '../schema/x.ts';",
    ['"text"', '"schema"'],
  ],
  ['a neighbour below mcp', 'mcp/tools/a.ts', "import { x } from '../bridge/x.ts';", ['"mcp/tools"', '"mcp/bridge"']],
  ['a room in a dynamic import', 'bus/a.ts', "await import('../host/x.ts');", ['"bus"', '"host"']],
  ['testing in a source file', 'bus/a.ts', "import { x } from '../testing/x.ts';", ['"bus"', '"testing"']],
])('names both rooms when a file imports %s', (_what, file, text, named) => {
  const problems = findLevelBreaks(tree({ [file]: text }));
  expect(problems).toHaveLength(1);
  for (const room of named) expect(problems[0]).toContain(room);
});

it('asks for a new folder to be put on a level', () => {
  expect(findLevelBreaks(tree({ 'attic/a.ts': '' }))).toEqual([expect.stringContaining('"attic"')]);
});
