import { expect, it } from 'vitest';
import { createLineReader } from './json-lines.ts';

const read = (chunks: readonly (string | Buffer)[], maxBytes = 1_000_000): unknown[] => {
  const seen: unknown[] = [];
  const reader = createLineReader(maxBytes, {
    line: (text) => void seen.push(text),
    overlong: ({ head, tail }) => void seen.push({ head: head.slice(0, 5), tail: tail.slice(-5) }),
  });
  for (const chunk of chunks) reader(Buffer.from(chunk));
  return seen;
};

it('puts lines together however the chunks fall, also inside a character', () => {
  const bytes = Buffer.from('äöü\r\nsecond\n');
  const chunks = Array.from(bytes, (_byte, index) => bytes.subarray(index, index + 1));
  expect(read(chunks)).toEqual(['äöü', 'second']);
});

it('gives several lines of one chunk, blank ones too, and keeps an unfinished one back', () => {
  expect(read(['a\n\nb\nunfinished'])).toEqual(['a', '', 'b']);
});

it('keeps only the ends of a line that is too long, and goes on with the next', () => {
  expect(read(['{"id":1', 'x'.repeat(50), 'tail}\n{"ok":1}\n'], 20)).toEqual([
    { head: '{"id"', tail: 'tail}' },
    '{"ok":1}',
  ]);
});
