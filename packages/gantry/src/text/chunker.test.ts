import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chunkText } from './chunker.ts';

interface LargeResultCase {
  readonly id: string;
  readonly input: { readonly text: Repeated | (string | Repeated)[]; readonly limitChars: number };
}
interface Repeated {
  readonly $repeat: [string | string[], number];
}
const fieldCase = (id: string): { text: string; limitChars: number } => {
  const file = new URL('../../../../test/data/field-cases/j-context.json', import.meta.url);
  const { cases } = JSON.parse(readFileSync(file, 'utf8')) as { cases: LargeResultCase[] };
  const found = cases.find((one) => one.id === id) as LargeResultCase;
  const expand = (part: string | Repeated): string =>
    typeof part === 'string' ? part : [part.$repeat[0]].flat().join('').repeat(part.$repeat[1]);
  return { text: [found.input.text].flat().map(expand).join(''), limitChars: found.input.limitChars };
};
const bodies = (text: string, maxChars: number): string[] => chunkText(text, { maxChars }).map((chunk) => chunk.body);

describe('chunkText', () => {
  it('splits at H1 to H3 headings and leaves the heading lines out of the bodies', () => {
    const text = 'intro\n# One\nfirst\n## Two\n\nsecond\n### Three\r\nthird\n#### Four\n#no\n #no\n';
    expect(chunkText(text, { maxChars: 1_000 })).toEqual([
      { heading: '', level: 0, body: 'intro', emptyBefore: [] },
      { heading: 'One', level: 1, body: 'first', emptyBefore: [] },
      { heading: 'Two', level: 2, body: 'second', emptyBefore: [] },
      { heading: 'Three', level: 3, body: 'third\n#### Four\n#no\n #no', emptyBefore: [] },
    ]);
  });

  it('skips empty sections but the last, and remembers their headings', () => {
    const chunks = chunkText('# A\n\n## B\ntext\n## C\n## D\n', { maxChars: 100 });
    expect(chunks).toEqual([
      { heading: 'B', level: 2, body: 'text', emptyBefore: [{ heading: 'A', level: 1 }] },
      { heading: 'D', level: 2, body: '', emptyBefore: [{ heading: 'C', level: 2 }] },
    ]);
  });

  it.each([
    ['backticks', '```sh\n# comment\n```\n# Real\nx'],
    ['tildes and a longer fence', '~~~~\n~~~\n# comment\n~~~~\n# Real\nx'],
  ])('takes no heading from fenced code: %s', (_, text) => {
    expect(chunkText(text, { maxChars: 100 }).map((chunk) => chunk.heading)).toEqual(['', 'Real']);
  });

  it('packs paragraphs and titles further parts as continued', () => {
    const chunks = chunkText('# T\naaaa\n\nbbbb\n\ncccc\n\ndddd', { maxChars: 12 });
    expect(chunks.map((chunk) => [chunk.heading, chunk.body.trim()])).toEqual([
      ['T', 'aaaa\n\nbbbb'],
      ['T (continued 1)', 'cccc\n\ndddd'],
    ]);
  });

  it('hard-splits a paragraph over the limit, at a line end when one is near', () => {
    expect(bodies('x'.repeat(25), 10)).toEqual(['x'.repeat(10), 'x'.repeat(10), 'xxxxx']);
    expect(bodies('12345678\nabcdefghijk', 10)).toEqual(['12345678\n', 'abcdefghij', 'k']);
  });

  it('splits neither a surrogate pair nor a CRLF', () => {
    expect(bodies('a😀😀', 2)).toEqual(['a', '😀', '😀']);
    expect(bodies('abc\r\ndef', 4)).toEqual(['abc', '\r\nde', 'f']);
  });

  it('keeps a line that is too long for a heading in the text', () => {
    const line = `# ${'x'.repeat(500)}`;
    expect(bodies(line, 1_000)).toEqual([line]);
  });

  it('drops the deeper headings as borders when there are hundreds', () => {
    const text = `# Top\n${'## Sub\nline\n'.repeat(300)}# End\nx`;
    expect(chunkText(text, { maxChars: 100_000 }).map((chunk) => chunk.heading)).toEqual(['Top', 'End']);
    expect(bodies('# a comment\nvalue\n'.repeat(1_000), 100_000)).toEqual(['# a comment\nvalue\n'.repeat(1_000)]);
  });

  it('gives an empty text one empty chunk', () => {
    expect(chunkText('', { maxChars: 10 })).toEqual([{ heading: '', level: 0, body: '', emptyBefore: [] }]);
  });

  it.each(['j-large-result-is-paged', 'j-one-giant-line'])('keeps field case %s whole in bounded chunks', (id) => {
    const { text, limitChars } = fieldCase(id);
    const parts = bodies(text, limitChars);
    expect(parts.join('')).toBe(text);
    expect(parts.length).toBeLessThanOrEqual(200);
    for (const part of parts) {
      expect(part.length).toBeLessThanOrEqual(limitChars);
      expect(part.isWellFormed()).toBe(true);
    }
  });

  it('stays linear for a single line of two million characters and five megabytes of short ones', () => {
    expect(bodies('x'.repeat(2_000_000), 4_000)).toHaveLength(500);
    expect(bodies('a\n\n'.repeat(1_700_000), 20_000).join('')).toHaveLength(5_100_000);
  });

  it('loses nothing but heading lines and white space, whatever the text', () => {
    const piece = fc.constantFrom('# H\n', '## I\n', 'word', ' ', '\n', '\n\n', '\r\n', '```\n', '😀', 'longer text ');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), fc.integer({ min: 2, max: 40 }), (pieces, maxChars) => {
        const text = pieces.join('');
        const chunks = chunkText(text, { maxChars });
        expect(chunks.every((chunk) => chunk.body.length <= maxChars && chunk.body.isWellFormed())).toBe(true);
        const kept = chunks.map((chunk) => chunk.body).join('');
        if (chunks.every((chunk) => chunk.level === 0) && !/^#{1,3} /m.test(text)) expect(kept).toBe(text);
        const words = (some: string): number => some.match(/word|😀|longer/gu)?.length ?? 0;
        if (maxChars >= 20) expect(words(kept)).toBeGreaterThanOrEqual(words(text.replaceAll(/^#{1,3} .*$/gm, '')) - 0);
      }),
    );
  });
});
