import { describe, expect, it } from 'vitest';
import { truncateText } from './truncate.ts';

describe('truncateText', () => {
  it('keeps a text that fits', () => {
    expect(truncateText('abc', 3)).toBe('abc');
  });

  it('says in plain digits how many characters are missing', () => {
    expect(truncateText('x'.repeat(70_000), 64_000)).toBe(
      `${'x'.repeat(64_000)}\n[result truncated — 6000 chars omitted]`,
    );
  });

  it('counts a character that would have been halved as omitted', () => {
    expect(truncateText('a😀b', 2)).toBe('a\n[result truncated — 3 chars omitted]');
  });

  it('lets the caller word the marker', () => {
    expect(truncateText('abcdef', 2, { marker: (omitted) => `(+${omitted})` })).toBe('ab\n(+4)');
    expect(truncateText('abc', 0)).toBe('[result truncated — 3 chars omitted]');
  });
});
