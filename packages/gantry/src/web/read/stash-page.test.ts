import { describe, expect, it } from 'vitest';
import type { MemoryEntry } from '../../memory/working-memory.ts';
import { createStashPage, describeStashed, sanitisedUrl } from './stash-page.ts';

const setUp = () => {
  const entries = new Map<string, string>();
  const stashPage = createStashPage(
    {
      stash: async ({ namespace, key, text, category, ttlMs }) => {
        expect([category, ttlMs]).toEqual(['web', 1_800_000]);
        entries.set(`${namespace}/${key}`, text);
        return `${namespace}/${key}`;
      },
      list: async (path) =>
        [...entries]
          .filter(([key]) => key.startsWith(`${path}/`))
          .map(([key, text]): MemoryEntry => ({ key, text, savedAtMs: 0, expiresAtMs: 1 })),
      delete: async (key) => entries.delete(key),
    },
    { chunkMaxLength: 4000, ttlMs: 1_800_000 },
  );
  return { entries, stashPage };
};
const section = (number: number): string => `## Part ${number}\n\n${'words '.repeat(400)}`;
const url = 'https://a.example/guide?x=1';

describe('createStashPage', () => {
  it('keeps every piece and an outline under keys that name the page', async () => {
    const { entries, stashPage } = setUp();
    const stashed = await stashPage({ namespace: 'session/7', url, text: [1, 2, 3].map(section).join('\n\n') });
    expect(stashed?.indexKey).toBe('session/7/web-https___a.example_guide_x_1-index');
    expect(stashed?.chunks.map(({ heading }) => heading)).toEqual(['Part 1', 'Part 2', 'Part 3']);
    for (const { key } of stashed?.chunks ?? []) {
      expect(key).toMatch(/^session\/7\/web-https___a\.example_guide_x_1-chunk\d+$/);
      expect(entries.get(key)).toMatch(/^## Part \d\n\nwords/);
      expect(entries.get(stashed?.indexKey ?? '')).toContain(key);
    }
  });

  it('replaces a page that was read before, pieces that it no longer has included', async () => {
    const { entries, stashPage } = setUp();
    await stashPage({ namespace: 'session/7', url, text: [1, 2, 3, 4].map(section).join('\n\n') });
    await stashPage({ namespace: 'session/7', url: 'https://a.example/other', text: [1, 2].map(section).join('\n\n') });
    await stashPage({ namespace: 'session/7', url, text: [1, 2].map(section).join('\n\n') });
    expect([...entries.keys()].filter((key) => key.includes('guide')).map((key) => key.split('-').at(-1))).toEqual([
      'chunk0',
      'chunk1',
      'index',
    ]);
    expect([...entries.keys()].filter((key) => key.includes('other'))).toHaveLength(3);
  });

  it('gives nothing when there is nowhere to keep it', async () => {
    const nowhere = createStashPage(
      { stash: async () => undefined, list: async () => [], delete: async () => false },
      { chunkMaxLength: 10, ttlMs: 1 },
    );
    expect(await nowhere({ namespace: 'session/7', url, text: 'x' })).toBeUndefined();
  });
});

describe('sanitisedUrl', () => {
  it('keeps letters, digits, points and hyphens', () => {
    expect(sanitisedUrl('//a-b.example/c d')).toBe('a-b.example_c_d');
  });

  it('tells long addresses apart that begin alike', () => {
    const long = `https://a.example/${'x'.repeat(100)}`;
    expect(sanitisedUrl(`${long}1`)).not.toBe(sanitisedUrl(`${long}2`));
    expect(sanitisedUrl(`${long}1`)).toHaveLength(89);
  });
});

describe('describeStashed', () => {
  it('says how large the page is and where to read on', () => {
    const text = describeStashed({ indexKey: 'i', chunks: [{ heading: 'a|b', key: 'k0' }] }, 8001);
    expect(text).toContain('8001 chars');
    expect(text).toContain('| 0 | a\\|b | `k0` |');
    expect(text).toContain('get_from_working_memory');
  });

  it('names the outline for what a long table leaves out', () => {
    const chunks = Array.from({ length: 150 }, (_, index) => ({ heading: 'h', key: `k${index}` }));
    expect(describeStashed({ indexKey: 'i', chunks }, 1)).toContain('50 more chunk(s)');
  });
});
