import { describe, expect, it } from 'vitest';
import { toStem } from './stem.ts';
import { createThesaurus } from './thesaurus.ts';

describe('createThesaurus', () => {
  const thesaurus = createThesaurus();
  const weight = (from: string, to: string): number => thesaurus.get(toStem(from))?.get(toStem(to)) ?? 0;

  it('relates synonyms both ways', () => {
    expect(weight('delete', 'remove')).toBeGreaterThan(0);
    expect(weight('remove', 'delete')).toBe(weight('delete', 'remove'));
  });

  it('lets a word stand for its subject more than the subject for the word', () => {
    expect(weight('zodiac', 'astrology')).toBeGreaterThan(0);
    expect(weight('umbrella', 'weather')).toBeGreaterThan(weight('weather', 'umbrella'));
  });

  it('relates other languages to English and back', () => {
    expect(weight('погода', 'weather')).toBe(weight('weather', 'погода'));
    expect(weight('天气', 'weather')).toBeGreaterThan(weight('umbrella', 'weather'));
  });

  it('gives every relation less than the word itself, and no word to itself', () => {
    for (const [stem, related] of thesaurus) {
      expect(related.has(stem)).toBe(false);
      for (const share of related.values()) expect(share > 0 && share < 1).toBe(true);
    }
  });
});
