import { describe, expect, it } from 'vitest';
import { silentLog } from '../../kernel/log.ts';
import { makeInvoker, registryOf } from '../../testing/make-invoker.ts';
import { outcomeText } from '../../tool/outcome-text.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { CallContext, Progress } from '../../tool/context.ts';
import { engineError } from './answer-json.ts';
import type { AttachImages } from './attach-images.ts';
import { createSearchChain } from './search-chain.ts';
import type { SearchAnswer, SearchCategory, SearchEngine, SearchRequest } from './search-engine.ts';
import { searchCategories } from './search-engine.ts';
import { describeAnswer } from './search-text.ts';
import { webSearchTool } from './web-search-tool.ts';

const hit = { title: 'T', url: 'https://a.example/', snippet: 's' };

const engine = (
  name: string,
  answer: (request: SearchRequest) => SearchAnswer,
  options: { categories?: readonly SearchCategory[]; isUp?: boolean } = {},
): SearchEngine & { readonly asked: SearchRequest[] } => {
  const asked: SearchRequest[] = [];
  return {
    name,
    asked,
    categories: new Set(options.categories ?? ['text']),
    isUp: () => options.isUp ?? true,
    search: async (request) => {
      asked.push(request);
      return answer(request);
    },
  };
};

const setUp = (...engines: SearchEngine[]) => {
  const tool = webSearchTool({ chain: createSearchChain(engines, silentLog), maxSearchResults: 5 });
  const invoker = makeInvoker(registryOf(tool));
  const progress: Progress[] = [];
  return {
    tool,
    progress,
    enumOf: () => {
      const schema = tool.registration.assemble?.({ caller: 'model' })?.inputSchema as {
        properties: { category: { enum: string[]; description: string } };
      };
      return schema.properties.category;
    },
    call: async (args: Record<string, unknown>) => {
      const outcome = await invoker.invoke(
        { name: 'web_search', arguments: args as never },
        { caller: 'model', onProgress: (one) => void progress.push(one) },
      );
      return { failed: outcome.status === 'failed', text: outcomeText(outcome) };
    },
  };
};
const brave = (answer: () => SearchAnswer, isUp = true) =>
  engine('Brave Search', answer, { categories: ['text', 'image', 'video', 'news'], isUp });
const found = (): SearchAnswer => ({ hits: [hit] });
const failing = (problem: string) => (): SearchAnswer => {
  throw engineError('Brave Search', problem, 401);
};

describe('web_search', () => {
  it('offers what the engines of this turn can search for', () => {
    const text = engine('DuckDuckGo', found);
    expect(setUp(brave(found, false), text).enumOf()).toEqual({
      type: 'string',
      enum: ['text'],
      description: 'What to search for: only text is available this turn.',
    });
    expect(setUp(brave(found), text).enumOf().enum).toEqual(['text', 'image', 'video', 'news']);
    expect(setUp(brave(found), engine('SearXNG', found, { categories: searchCategories }), text).enumOf().enum).toEqual(
      [...searchCategories],
    );
  });

  it('gives the very same registration between turns unless something changed', () => {
    const { tool } = setUp(engine('DuckDuckGo', found));
    const context = { caller: 'model' } as const;
    expect(tool.registration.assemble?.(context)).toBe(tool.registration.assemble?.(context));
  });

  it('answers from the next engine when one fails, and says once which was asked', async () => {
    const { call, progress } = setUp(brave(failing('the key is not accepted')), engine('DuckDuckGo', found));
    expect(await call({ query: 'q' })).toEqual({ failed: false, text: '1. [T](https://a.example/) — s' });
    expect(progress).toEqual([{ progress: 0, message: 'Searching with Brave Search' }]);
  });

  it('takes nothing found for an answer', async () => {
    const last = engine('DuckDuckGo', found);
    expect(
      await setUp(
        brave(() => ({ hits: [] })),
        last,
      ).call({ query: 'q' }),
    ).toEqual({ failed: false, text: 'No results found.' });
    expect(last.asked).toEqual([]);
  });

  it('names every problem when no engine answered', async () => {
    const { failed, text } = await setUp(
      brave(failing('limits the rate')),
      engine('DuckDuckGo', failing('a challenge')),
    ).call({ query: 'q' });
    expect(failed).toBe(true);
    expect(text).toMatch(/Search failed, which does not mean.*limits the rate.*a challenge.*web_browse/s);
  });

  it('fails without an exception for a category that nobody searches now', async () => {
    const { failed, text } = await setUp(engine('DuckDuckGo', found)).call({ query: 'q', category: 'music' });
    expect(failed).toBe(true);
    expect(text).toContain('"music" is not available now');
  });

  it.each([
    [0, 1],
    [50, 20],
    [2.9, 2],
    ['5', 5],
    ['many', 7],
    [undefined, 7],
  ])('reads a count of %j as %j', async (count, wanted) => {
    const only = engine('DuckDuckGo', found);
    const tool = webSearchTool({ chain: createSearchChain([only], silentLog), maxSearchResults: 7 });
    await makeInvoker(registryOf(tool)).invoke(
      { name: 'web_search', arguments: { query: 'q', count } },
      { caller: 'model' },
    );
    expect(only.asked[0]?.count).toBe(wanted);
  });

  it('reads an unknown category as text, and refuses a blank query without asking anybody', async () => {
    const only = engine('DuckDuckGo', found);
    const { call } = setUp(only);
    expect((await call({ query: 'q', category: 'weather' })).failed).toBe(false);
    expect(only.asked[0]?.category).toBe('text');
    const blank = await call({ query: '  ' });
    expect(blank.failed).toBe(true);
    expect(blank.text).toContain('query');
    expect(only.asked).toHaveLength(1);
  });
});

describe('web_search for images', () => {
  const pictures = Array.from({ length: 30 }, (_value, index) => ({
    ...hit,
    imageUrl: `https://i.example/${index}.png`,
  }));
  const setUpImages = (attachable: number) => {
    const only = engine('Brave Search', () => ({ hits: pictures }), { categories: ['text', 'image'] });
    const wantedImages: number[] = [];
    const attachImages: AttachImages = async (hits, { wanted }) => {
      wantedImages.push(wanted);
      return hits.slice(0, Math.min(wanted, attachable)).map((one, index) => ({
        hit: one,
        attachment: { path: `/shared/images/${index}.png`, name: `${index}.png`, size: 9_000, mime: 'image/png' },
      }));
    };
    const tool = webSearchTool({ chain: createSearchChain([only], silentLog), maxSearchResults: 5, attachImages });
    const invoker = makeInvoker(registryOf(tool));
    const call = (args: JsonObject, context: CallContext = { caller: 'model' }) =>
      invoker.invoke({ name: 'web_search', arguments: { query: 'ships', category: 'image', ...args } }, context);
    return { call, wantedImages, asked: only.asked };
  };

  it('attaches three, out of ten that the engine names, and says what each is and where it lies', async () => {
    const { call, asked } = setUpImages(99);
    const outcome = await call({});
    expect(asked[0]?.count).toBe(10);
    expect(outcome).toMatchObject({ status: 'done', attachments: [{ path: '/shared/images/0.png' }, {}, {}] });
    expect(outcomeText(outcome)).toContain(
      '1. /shared/images/0.png — [T](https://a.example/) — image: https://i.example/0.png · s · image/png, 9000 bytes',
    );
  });

  it.each([
    [5, 5, 15],
    [20, 10, 30],
  ])('attaches, for a count of %i, up to %i out of %i', async (count, wanted, pool) => {
    const { call, asked, wantedImages } = setUpImages(99);
    await call({ count });
    expect([wantedImages, asked[0]?.count]).toEqual([[wanted], pool]);
  });

  it('lists links where no image could be kept', async () => {
    const outcome = await setUpImages(0).call({});
    expect(outcome).not.toHaveProperty('attachments');
    expect(outcomeText(outcome).split('\n')).toHaveLength(5);
    expect(outcomeText(outcome)).toContain('image: https://i.example/0.png');
  });

  it.each([
    ['a person at a command line', { caller: 'operator' }],
    ['a client elsewhere', { caller: 'client' }],
  ] as const)('lists links for %s', async (_who, context) => {
    const { call, wantedImages } = setUpImages(99);
    expect(await call({}, context)).not.toHaveProperty('attachments');
    expect(wantedImages).toEqual([]);
  });

  it('attaches for a client that shares the folder', async () => {
    const { call } = setUpImages(99);
    expect(await call({}, { caller: 'client', sharesFolder: true })).toMatchObject({ attachments: [{}, {}, {}] });
  });
});

describe('web_search in workspaces', () => {
  it('offers and asks an engine only where the workspace has a key for it', async () => {
    const keyed: SearchEngine = {
      ...engine('Brave Search', found, { categories: ['text', 'news'] }),
      isUp: (workspace) => workspace === 'with-key',
    };
    const tool = webSearchTool({
      chain: createSearchChain([keyed, engine('DuckDuckGo', found)], silentLog),
      maxSearchResults: 5,
    });
    const categories = (workspace: string) =>
      tool.registration.assemble?.({ caller: 'model', workspace })?.inputSchema['properties'];
    expect(categories('with-key')).toMatchObject({ category: { enum: ['text', 'news'] } });
    expect(categories('without')).toMatchObject({ category: { enum: ['text'] } });
    const invoker = makeInvoker(registryOf(tool));
    const search = (workspace: string) =>
      invoker.invoke(
        { name: 'web_search', arguments: { query: 'q', category: 'news' } },
        { caller: 'model', workspace },
      );
    expect([(await search('with-key')).status, (await search('without')).status]).toEqual(['done', 'failed']);
  });
});

describe('describeAnswer', () => {
  it('leaves out results without title or web address and flattens what the rest say', () => {
    const hits = [
      { title: '', url: 'https://a.example/', snippet: '' },
      { title: 'no address', url: '', snippet: '' },
      { title: 'script', url: 'javascript:x()', snippet: '' },
      { title: 'A [b]\nc', url: 'https://a.example/(x)', snippet: 'one\n\ntwo', facts: ['2026'] },
      { title: 'B', url: 'https://b.example/', snippet: '' },
      { title: 'C', url: 'https://c.example/', snippet: '' },
    ];
    expect(describeAnswer({ hits, correctedQuery: 'right' }, 2)).toBe(
      'Searched for: right\n1. [A (b) c](https://a.example/%28x%29) — 2026 · one two\n2. [B](https://b.example/)',
    );
  });
});
