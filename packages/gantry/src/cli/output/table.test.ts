import { expect, it } from 'vitest';
import { cutToWidth, toTerminalText, widthOf } from './printable.ts';
import { toTable } from './table.ts';

it('aligns columns, also under wide and combining characters', () => {
  expect(toTable(['NAME', 'TEXT'], [['日本', 'x'], ['e\u0301', 'y'], ['abcdef']])).toBe(
    'NAME    TEXT\n日本    x\ne\u0301       y\nabcdef',
  );
});

it('cuts the last column to the terminal and no other', () => {
  const long = 'a description that goes on';
  expect(toTable(['NAME', 'DESCRIPTION'], [['a_very_long_name', long]], { columns: 36 })).toBe(
    'NAME              DESCRIPTION\na_very_long_name  a description tha…',
  );
  expect(toTable(['NAME', 'DESCRIPTION'], [['n', long]])).toContain(long);
});

it('keeps every row on one line and harmless', () => {
  expect(toTable(['A', 'B'], [['x\u001b[31m', 'one\r\ntwo\u202e\u0007']])).toBe('A       B\nx [31m  one two');
});

it.each([
  ['abc', 3],
  ['日本', 4],
  ['e\u0301', 1],
  ['🎉!', 3],
  ['', 0],
])('knows that "%s" takes %d columns', (text, width) => {
  expect(widthOf(text)).toBe(width);
});

it.each([
  ['abcdef', 6, 'abcdef'],
  ['abcdef', 5, 'abcd…'],
  ['日本語', 5, '日本…'],
  ['日本語', 4, '日…'],
])('cuts "%s" to %d columns', (text, columns, cut) => {
  expect(cutToWidth(text, columns)).toBe(cut);
});

it('takes what steers a terminal out of a text, and keeps its lines', () => {
  expect(toTerminalText('a\r\nb\t\u001b]0;title\u0007c\u009b31m')).toBe('a\nb\t]0;titlec31m');
  expect(toTerminalText('a\u202eb\u2066c\u200fd\u2028e')).toBe('abcd\ne');
  expect(toTerminalText('👩\u200d👧')).toBe('👩\u200d👧');
});
