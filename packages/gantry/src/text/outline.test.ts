import { expect, it } from 'vitest';
import { chunkText } from './chunker.ts';
import { toOutline } from './outline.ts';

const outlineOf = (text: string, maxChars = 1_000): string[] =>
  toOutline(chunkText(text, { maxChars }), (index) => `s/x-chunk${index}`).split('\n');

it('nests headings by level below the document heading', () => {
  expect(outlineOf('# Models\na\n## Pricing\nb\n## Windows\nc\n### Limits\nd\n# Next\ne')).toEqual([
    '## Document Outline',
    '',
    '- **Models** → `s/x-chunk0`',
    '  - **Pricing** → `s/x-chunk1`',
    '  - **Windows** → `s/x-chunk2`',
    '    - **Limits** → `s/x-chunk3`',
    '- **Next** → `s/x-chunk4`',
  ]);
});

it('shows a heading without text as a parent that has no key', () => {
  expect(outlineOf('# Top\n## Sub\nx').slice(2)).toEqual(['- **Top**', '  - **Sub** → `s/x-chunk0`']);
});

it('starts at the margin when the document starts at a deeper level', () => {
  expect(outlineOf('## A\nx\n### B\ny').slice(2)).toEqual(['- **A** → `s/x-chunk0`', '  - **B** → `s/x-chunk1`']);
});

it('names parts without a heading by their number and continuations beside their section', () => {
  expect(outlineOf('x'.repeat(15), 10).slice(2)).toEqual([
    '- **Part 0** → `s/x-chunk0`',
    '- **Part 1** → `s/x-chunk1`',
  ]);
  expect(outlineOf(`# T\n${'x'.repeat(15)}`, 10).slice(2)).toEqual([
    '- **T** → `s/x-chunk0`',
    '- **T (continued 1)** → `s/x-chunk1`',
  ]);
});

it('does not let a heading forge an entry', () => {
  expect(outlineOf('# x** → `evil`\ny')[2]).toBe("- **x** → 'evil'** → `s/x-chunk0`");
});
