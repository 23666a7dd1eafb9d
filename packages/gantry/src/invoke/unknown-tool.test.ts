import { describe, expect, it } from 'vitest';
import { unknownToolText } from './unknown-tool.ts';

const many = (count: number): string[] => Array.from({ length: count }, (_, at) => `zz_${at}`);
const search = 'Search with find_tools.';

describe('what a call of an unknown tool is told', () => {
  it('has all names while they are few, beside how to find more', () => {
    expect(unknownToolText({ name: 'weather', callable: ['read', 'write'], howToFind: search })).toBe(
      `There is no tool named "weather" that you can call. You can call: read, write. ${search}`,
    );
    expect(unknownToolText({ name: 'weather', callable: many(40) })).toContain('zz_39.');
  });

  it('has the near names first, and each once', () => {
    const text = unknownToolText({ name: 'raed', callable: ['read', 'write'], hint: { near: ['disk__read', 'read'] } });
    expect(text).toContain('Did you mean disk__read, read? You can call: read, write.');
  });

  it('says how to find one where a list would be long, and has the first names where nothing finds them', () => {
    const found = unknownToolText({ name: 'weather', callable: many(41), howToFind: search });
    expect(found).toBe(`There is no tool named "weather" that you can call. ${search}`);
    const listed = unknownToolText({ name: 'weather', callable: many(60) });
    expect(listed).toContain('zz_39 and 20 more.');
    expect(listed).not.toContain('zz_40');
  });

  it('has no list for who is told why, or what to do', () => {
    const text = unknownToolText({
      name: 'once',
      callable: ['read'],
      hint: { text: 'It ran already.' },
      howToFind: search,
    });
    expect(text).toBe('There is no tool named "once" that you can call. It ran already.');
  });

  it('says so where nothing can be called, and shows an endless name in part', () => {
    expect(unknownToolText({ name: 'x'.repeat(10_000), callable: [] })).toMatch(
      /^.{100,160}There is none that you can call\.$/s,
    );
  });
});
