import { describe, expect, it } from 'vitest';
import { GantryError } from '../../kernel/errors.ts';
import { silentLog } from '../../kernel/log.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { fakeFetch } from '../../testing/fake-fetch.ts';
import { braveEngine } from './brave.ts';
import type { BraveKey, BraveKeys } from './brave-keys.ts';
import { duckDuckGoEngine } from './duckduckgo.ts';
import { hiddenFunctionEngine } from './hidden-function.ts';
import type { SearchRequest } from './search-engine.ts';
import { searxngEngine } from './searxng.ts';

const wanted: SearchRequest = { query: 'tall ships', category: 'text', count: 5 };
const json = (value: unknown, status = 200): Response => Response.json(value, { status });
const keyed = (value: string | undefined, owner: BraveKey['owner'] = 'operator'): BraveKeys => ({
  isKnown: () => value !== undefined,
  find: async () => (value === undefined ? undefined : { value, owner }),
});
const passing = { send: (request: () => Promise<Response>) => request() };

describe('braveEngine', () => {
  const search = async (answer: Response, request: Partial<SearchRequest> = {}, keys = keyed('key-1')) => {
    const { fetch, seen } = fakeFetch(() => answer);
    const engine = braveEngine({ fetch, pacer: passing, keys });
    return { answer: await engine.search({ ...wanted, ...request }), request: seen[0] };
  };

  it('asks as documented and reads web results', async () => {
    const { answer, request } = await search(
      json({
        query: { original: 'tall ships', altered: 'tall ship' },
        web: {
          results: [
            { title: 'A <strong>ship</strong>', url: 'https://a.example/', description: 'tall', age: '2 days ago' },
          ],
        },
      }),
    );
    expect(request?.url.href).toContain('https://api.search.brave.com/res/v1/web/search?q=tall+ships&count=5');
    expect(request?.headers.get('x-subscription-token')).toBe('key-1');
    expect(answer.correctedQuery).toBe('tall ship');
    expect(answer.hits).toEqual([
      { title: 'A ship', url: 'https://a.example/', snippet: 'tall', facts: ['2 days ago'] },
    ]);
  });

  it.each([
    [
      'image',
      '/images/search',
      { title: 'T', url: 'https://a.example/', properties: { url: 'https://i.example/1.png' } },
      'https://i.example/1.png',
      [],
    ],
    [
      'image',
      '/images/search',
      { title: 'T', url: 'https://a.example/', thumbnail: { src: 'https://i.example/t.png' } },
      'https://i.example/t.png',
      [],
    ],
    [
      'video',
      '/videos/search',
      { title: 'T', url: 'https://a.example/', video: { duration: '03:10' } },
      undefined,
      ['03:10'],
    ],
    ['news', '/news/search', { title: 'T', url: 'https://a.example/', age: '1 hour ago' }, undefined, ['1 hour ago']],
  ] as const)('searches for %s', async (category, path, result, imageUrl, facts) => {
    const { answer, request } = await search(json({ results: [result] }), { category });
    expect(request?.url.pathname).toBe(`/res/v1${path}`);
    expect(answer.hits[0]).toMatchObject({ facts, imageUrl });
  });

  it('says Japanese in the words of the service, and passes the filter on', async () => {
    const { request } = await search(json({}), { language: 'ja', safeSearch: 'strict' });
    expect(request?.url.searchParams.get('search_lang')).toBe('jp');
    expect(request?.url.searchParams.get('safesearch')).toBe('strict');
  });

  it.each([
    [429, '', /limits the rate of searches/],
    [400, '{"error":"QUOTA exceeded"}', /limits the rate of searches/],
    [401, '', /key is not accepted.*BRAVE_API_KEY/],
    [422, '{"code":"SUBSCRIPTION_TOKEN_INVALID"}', /key is not accepted/],
    [500, 'oops', /HTTP 500/],
  ])('tells what HTTP %s %s means', async (status, body, message) => {
    await expect(search(new Response(body, { status }))).rejects.toThrow(message);
  });

  it('says whose key is not accepted', async () => {
    const refused = search(new Response('', { status: 401 }), { workspace: 'w' }, keyed('key-2', 'workspace'));
    await expect(refused).rejects.toThrow(/key of this workspace is not accepted/);
  });

  it('fails on what is no JSON, and finds nothing where there is nothing', async () => {
    await expect(search(new Response('<html>'))).rejects.toThrow(/not the JSON/);
    expect((await search(json({ web: { results: [] } }))).answer.hits).toEqual([]);
  });

  it('is there only with a key', () => {
    expect(braveEngine({ fetch: fakeFetch(() => json({})).fetch, pacer: passing, keys: keyed(undefined) }).isUp()).toBe(
      false,
    );
  });
});

describe('searxngEngine', () => {
  const setUp = (
    answer: (url: URL) => Response | Promise<Response>,
    baseUrl: string | undefined = 'http://searx.internal:8080//',
  ) => {
    const clock = fakeClock();
    const logged: string[] = [];
    const log = {
      ...silentLog,
      warn: (_facts: unknown, message: string) => void logged.push(message),
      info: (_facts: unknown, message: string) => void logged.push(message),
    };
    const { fetch, seen } = fakeFetch(({ url }) => answer(url));
    const engine = searxngEngine({ fetch, baseUrl, clock, log, timeoutMs: 5000, healthCacheMs: 60_000 });
    return { engine, clock, seen, logged };
  };

  it('asks as documented and reads results', async () => {
    const { engine, seen } = setUp(() =>
      json({
        answers: [{ answer: '42' }],
        results: [
          { title: 'T', url: 'https://a.example/', content: 'c', length: '3:10', publishedDate: '2026-01-02T00:00:00' },
        ],
      }),
    );
    const answer = await engine.search({ ...wanted, category: 'papers', language: 'de' });
    expect(seen[0]?.url.href).toBe(
      'http://searx.internal:8080/search?q=tall+ships&format=json&categories=science&safesearch=1&language=de',
    );
    expect(answer).toEqual({
      answer: '42',
      hits: [{ title: 'T', url: 'https://a.example/', snippet: 'c', facts: ['3:10', '2026-01-02'] }],
    });
  });

  it('does not take silent engines for nothing found', async () => {
    const { engine } = setUp(() => json({ results: [], unresponsive_engines: [['one', 'CAPTCHA']] }));
    await expect(engine.search(wanted)).rejects.toThrow(/one \(CAPTCHA\)/);
  });

  it('names the setting behind HTTP 403, and a time-out', async () => {
    await expect(setUp(() => new Response('', { status: 403 })).engine.search(wanted)).rejects.toThrow(
      /403.*JSON format/,
    );
    const { engine } = setUp(() => Promise.reject(new GantryError('timeout', 'late')));
    await expect(engine.search(wanted)).rejects.toMatchObject({ details: { status: 408 } });
  });

  it('says once when it goes down and once when it comes back', async () => {
    let status = 500;
    const { engine, clock, seen, logged } = setUp(() => new Response('', { status }));
    for (const next of [500, 500, 200, 200]) {
      status = next;
      await engine.checkUp?.(wanted);
      await engine.checkUp?.(wanted);
      await clock.advance(60_000);
    }
    expect(logged).toEqual(['SearXNG is down; other engines are used', 'SearXNG is up again']);
    expect(seen).toHaveLength(4);
    expect(engine.isUp()).toBe(true);
  });

  it('is silent and never there without an address', async () => {
    const { engine, seen, logged } = setUp(() => new Response(''), '');
    const absent = searxngEngine({
      fetch: fakeFetch(() => json({})).fetch,
      baseUrl: undefined,
      clock: fakeClock(),
      log: silentLog,
      timeoutMs: 1,
      healthCacheMs: 1,
    });
    expect(await absent.checkUp?.(wanted)).toBe(false);
    expect(absent.isUp()).toBe(false);
    expect([engine.name, seen.length, logged.length]).toEqual(['SearXNG', 0, 0]);
  });
});

describe('duckDuckGoEngine', () => {
  const search = async (html: string, status = 200, request: Partial<SearchRequest> = {}) => {
    const { fetch, seen } = fakeFetch(() => new Response(html, { status }));
    const engine = duckDuckGoEngine({ fetch, userAgent: 'test' });
    return { answer: await engine.search({ ...wanted, ...request }), request: seen[0] };
  };
  const block = (href: string, title = 'T', extra = ''): string =>
    `<div class="result results_links web-result ${extra}"><h2 class="result__title"><a class="result__a" href="${href}">${title}</a></h2><a class="result__snippet">about <b>it</b></a></div>`;

  it('reads results, out of the click counter, each once, without advertisements', async () => {
    const wrapped = `//duckduckgo.com/l/?uddg=${encodeURIComponent('https://a.example/x?y=1')}&rut=1`;
    const { answer } = await search(
      [
        block(wrapped, 'One &amp; <b>two</b>'),
        block('https://a.example/x?y=1', 'again'),
        block('https://ad.example/', 'ad', 'result--ad'),
        block('https://duckduckgo.com/about', 'own'),
        block('javascript:x()', 'script'),
        block('https://u:p@b.example/', 'credentials'),
        block('https://c.example/', 'three'),
      ].join(''),
    );
    expect(answer.hits).toEqual([
      { title: 'One & two', url: 'https://a.example/x?y=1', snippet: 'about it' },
      { title: 'three', url: 'https://c.example/', snippet: 'about it' },
    ]);
  });

  it('cuts a long query between characters', async () => {
    const { request } = await search(block('https://a.example/'), 200, { query: '𝄞'.repeat(600) });
    expect([...(request?.url.searchParams.get('q') ?? '')]).toHaveLength(500);
  });

  it.each([
    ['a challenge', 202, '', /proof that a person/],
    ['a refusal', 403, '', /proof that a person/],
    ['a challenge in the page', 200, '<div class="anomaly-modal__title">Bots use it too</div>', /proof that a person/],
    ['a limit', 429, '', /limits the rate/],
    ['another failure', 500, '', /HTTP 500/],
    [
      'results without a usable link',
      200,
      '<div class="result"><a class="result__a" href="javascript:x">x</a></div>',
      /no usable link/,
    ],
    ['a page that is no page of results', 200, '<p>hello', /no page of results/],
  ])('fails for %s', async (_what, status, html, message) => {
    await expect(search(html, status)).rejects.toThrow(message);
  });

  it('finds nothing where the page says so', async () => {
    expect((await search('<div class="no-results">No results.</div>')).answer.hits).toEqual([]);
  });
});

describe('hiddenFunctionEngine', () => {
  it('gives the answer as it is, and fails without one', async () => {
    const engine = (text: string) => hiddenFunctionEngine('IAsk', { isRegistered: () => true, ask: async () => text });
    expect(await engine(' It floats. ').search(wanted)).toEqual({ hits: [], answer: 'It floats.' });
    await expect(engine(' ').search(wanted)).rejects.toThrow(/empty/);
  });
});
