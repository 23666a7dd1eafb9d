import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, it } from 'vitest';

const imports = /^import\s+(?!type\b)[^;]*?from '([^']+)'/gms;

/** What a module loads with itself, from file to file. */
const loadedBy = (entry: string): ReadonlyMap<string, readonly string[]> => {
  const loaded = new Map<string, readonly string[]>();
  const open = [entry];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (loaded.has(file)) continue;
    const names = [...readFileSync(file, 'utf8').matchAll(imports)].map(([, name = '']) => name);
    loaded.set(file, names);
    for (const name of names) if (name.startsWith('.')) open.push(join(dirname(file), name));
  }
  return loaded;
};

it('The door for MCP clients loads nothing that speaks the protocol itself, which is megabytes, before it is asked to', () => {
  const loaded = [...loadedBy(join(import.meta.dirname, 'mcp-face.ts'))];
  const speakers = loaded.filter(([, names]) => names.some((name) => name.startsWith('@modelcontextprotocol/server')));
  expect(speakers.map(([file]) => relative(import.meta.dirname, file))).toEqual([]);
  expect(loaded.length).toBeGreaterThan(20);
});
