import { expect, it } from 'vitest';
import { webAssembly } from './web-assembly.ts';
import { withTableExport } from './with-table-export.ts';

const start = [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
const table = [4, 4, 1, 0x70, 0, 3];
const memory = [5, 3, 1, 0, 1];

it.each([
  ['few exports', 1],
  // The length and the number of the exports take two bytes each from here on.
  ['many exports', 127],
])('exports the table of code with %s beside them', (_what, count) => {
  const names = Array.from({ length: count }, (_, at) => `m${String(at).padStart(3, '0')}`);
  const content = [count, ...names.flatMap((name) => [4, ...Buffer.from(name), 2, 0])];
  const length = content.length < 0x80 ? [content.length] : [(content.length & 0x7f) | 0x80, content.length >> 7];
  const code = Uint8Array.of(...start, ...table, ...memory, 7, ...length, ...content);
  const { exports } = new webAssembly.Instance(new webAssembly.Module(withTableExport(code, 'funcs')), {});
  expect(Object.keys(exports)).toEqual([...names, 'funcs']);
  expect(exports['funcs']).toHaveProperty('length', 3);
});
