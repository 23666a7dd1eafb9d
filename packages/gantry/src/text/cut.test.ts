import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { cutIndex, cutText } from './cut.ts';

describe('cutText', () => {
  it('leaves no half character in the field case of halved emoji', () => {
    const file = new URL('../../../../test/data/field-cases/j-context.json', import.meta.url);
    const { cases } = JSON.parse(readFileSync(file, 'utf8')) as {
      cases: { id: string; input: { rows?: { text: unknown; limits: number[] }[] } }[];
    };
    const rows = cases.find((one) => one.id === 'j-half-surrogates')?.input.rows ?? [];
    expect(rows).toHaveLength(2);
    for (const row of rows)
      for (const limit of row.limits) {
        const text = [row.text]
          .flat()
          .map((part) => expand(part))
          .join('');
        const cut = cutText(text, limit);
        expect(cut.isWellFormed()).toBe(true);
        expect(Buffer.from(cut, 'utf8').toString('utf8')).toBe(cut);
        expect(cut.length).toBeLessThanOrEqual(limit);
      }
  });

  it('cuts at the ends and never between CR and LF', () => {
    expect([cutIndex('abc', -1), cutIndex('abc', 9), cutIndex('a\r\nb', 2)]).toEqual([0, 3, 1]);
  });
});

const expand = (part: unknown): string => {
  if (typeof part === 'string') return part;
  const [text, times] = (part as { $repeat: [string, number] }).$repeat;
  return text.repeat(times);
};
