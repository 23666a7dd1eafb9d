import { expect, it } from 'vitest';
import { capInstructions, isGuideLike } from './instructions-cap.ts';

it('leaves what is short enough, and what is absent, as it is', () => {
  const exact = 'x'.repeat(2_000);
  expect(capInstructions(exact, 2_000)).toBe(exact);
  expect(capInstructions(undefined, 2_000)).toBeUndefined();
});

it('cuts at the last line end that keeps at least half, and says how much is shown', () => {
  const text = `${'a'.repeat(1_500)}\n${'b'.repeat(500)}`;
  expect(text).toHaveLength(2_001);
  expect(capInstructions(text, 2_000)).toBe(
    `${'a'.repeat(1_500)}\n\n[Server instructions truncated: 1500 of 2001 characters shown. The rest is not available here.]`,
  );
});

it('cuts hard where the only line end comes too early', () => {
  const text = `${'a'.repeat(10)}\n${'b'.repeat(3_000)}`;
  expect(capInstructions(text, 2_000)).toMatch(
    /^a{10}\nb{1989}\n\n\[Server instructions truncated: 2000 of 3011 characters/,
  );
});

it('names the tools that may tell the rest', () => {
  expect(capInstructions('x'.repeat(20), 10, ['s__guide'])).toContain('For the rest try s__guide.]');
  expect(['get_guide', 'ReadMe', 'search_docs', 'search'].filter(isGuideLike)).toEqual([
    'get_guide',
    'ReadMe',
    'search_docs',
  ]);
});
