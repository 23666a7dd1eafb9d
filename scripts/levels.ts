import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve, dirname, sep } from 'node:path';

/** The rooms of `packages/gantry/src` by level: a room imports only rooms on smaller levels, and itself. */
const levels: readonly (readonly string[])[] = [
  ['kernel'],
  ['tool', 'text', 'schema'],
  ['store', 'bus', 'net', 'volume', 'search'],
  ['memory', 'invoke'],
  ['toolset', 'plugin'],
  ['mcp/wire'],
  ['mcp/bridge', 'mcp/tools', 'mcp/face', 'web', 'schedule', 'scripts', 'files', 'rest', 'media', 'a2a', 'workspace'],
  ['agent'],
  ['operations'],
  ['http', 'discord'],
  ['host'],
  ['cli'],
];

/** Public entries may import every room; nothing inside imports them. */
const entries = 'entries';
/** Fakes and contract suites: they may import every room, and only tests import them. */
const testing = 'testing';

const levelOf = new Map(levels.flatMap((rooms, level) => rooms.map((room) => [room, level] as const)));

const roomOf = (path: string): string | undefined => {
  const parts = path.split(sep);
  const [first, second] = parts;
  if (first === testing) return testing;
  if (first === entries || parts.length === 1) return entries;
  if (first === 'mcp') return `mcp/${second}`;
  return first;
};

const importPattern = /(?:\bfrom\s*|\bimport\s*\(?\s*)['"](\.{1,2}\/[^'"]+)['"]/g;

/** Finds imports that go against the table of rooms. Each problem names both rooms and the file. */
export const findLevelBreaks = (sourceDir: string): string[] => {
  const problems: string[] = [];
  const files = readdirSync(sourceDir, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  for (const file of files) {
    const room = roomOf(file);
    if (room === undefined || room === entries || room === testing) continue;
    const level = levelOf.get(room);
    if (level === undefined) {
      problems.push(`${file}: folder "${room}" is no room of the table in scripts/levels.ts; add it on its level.`);
      continue;
    }
    const isTest = /\.test(-d)?\.ts$/.test(file) || file.includes(`__fixtures__${sep}`);
    const text = readFileSync(join(sourceDir, file), 'utf8');
    for (const [, specifier] of text.matchAll(importPattern)) {
      const target = relative(sourceDir, resolve(sourceDir, dirname(file), specifier as string));
      const other = roomOf(target);
      if (other === room || other === undefined) continue;
      if (other === testing && isTest) continue;
      const otherLevel = levelOf.get(other);
      if (otherLevel === undefined || otherLevel >= level)
        problems.push(
          `${file}: room "${room}" (level ${level}) imports room "${other}"${otherLevel === undefined ? '' : ` (level ${otherLevel})`}: ${specifier}. ` +
            'Only rooms on smaller levels may be imported; declare a function type here and let host/ pass it in.',
        );
    }
  }
  return problems;
};
