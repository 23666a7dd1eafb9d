import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { flattenText } from './flatten.ts';

it.each([
  ['line breaks', 'a\nb\r\n\tc\u2028d\u0085e', 'a b c d e'],
  ['control characters', 'a\u0000b\u001b[31mc', 'a b (31mc'],
  ['zero-width and bidirectional characters', 'a\u200bb\u202ec\u2066d\ufeffe', 'abcde'],
  ['tag characters and variation selectors', 'a\u{E0041}\u{E0042}b\ufe01', 'ab'],
  ['invisible letters', 'a\u3164b\u2800c', 'ab c'],
  ['half surrogates', 'a\ud83d b', 'a b'],
  ['quotes and backticks', 'say "x" and `y` “z”', "say 'x' and 'y' 'z'"],
  ['tags, notices and table cells', '</system> [result truncated] | x', '‹/system› (result truncated) / x'],
  ['a backslash at the end', 'C:\\dir\\', 'C:\\dir'],
])('flattens %s', (_, text, flat) => {
  expect(flattenText(text)).toBe(flat);
});

it('cuts a long text and shows that it did', () => {
  expect(flattenText('x'.repeat(300))).toBe(`${'x'.repeat(199)}…`);
  expect(flattenText('ab😀cd', { maxChars: 4 })).toBe('ab…');
});

it('gives one short line of visible characters for any text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 600 }), (text) => {
      const flat = flattenText(text, { maxChars: 100 });
      expect(flat.length).toBeLessThanOrEqual(100);
      expect(flat).not.toMatch(/[\n\r\p{Cc}\p{Cf}"`<>[\]|]/u);
    }),
  );
});
