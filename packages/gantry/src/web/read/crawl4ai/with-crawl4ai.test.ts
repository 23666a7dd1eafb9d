import { describe, expect, it } from 'vitest';
import { GantryError } from '../../../kernel/errors.ts';
import { silentLog } from '../../../kernel/log.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import type { SeenRequest } from '../../../testing/fake-fetch.ts';
import { fakeFetch } from '../../../testing/fake-fetch.ts';
import type { Crawl4aiOptions } from './crawl4ai.ts';
import { createCrawl4ai } from './crawl4ai.ts';
import { parseCrawl4aiFilter } from './crawl4ai-answers.ts';
import type { PageReader, ReadResult } from '../page-reader.ts';
import { withCrawl4ai } from './with-crawl4ai.ts';

const own: ReadResult = {
  url: 'u',
  how: 'http',
  title: '',
  text: 'own',
  rendering: 'not tried',
  droppedShare: 0,
  statusCode: 200,
};
const how = { mode: 'auto', userAgent: 'test' } as const;
const url = 'https://a.example/';

const setUp = (answer: (request: SeenRequest) => Response, options: Partial<Crawl4aiOptions> = {}) => {
  const { fetch, seen } = fakeFetch(answer);
  const clock = fakeClock();
  const crawl4ai = createCrawl4ai({
    fetch,
    baseUrl: 'http://crawl.internal/',
    timeoutMs: 1000,
    maxBytes: 1000,
    filter: 'fit',
    cookies: [],
    clock,
    log: silentLog,
    ...options,
  });
  const inner: PageReader = { read: async () => own };
  const check = async (target: string | URL): Promise<URL> => {
    if (String(target).includes('private')) throw new GantryError('address_refused', 'private');
    return new URL(target);
  };
  return { reader: withCrawl4ai(inner, { crawl4ai, check, log: silentLog }), seen, clock };
};
const bodyOf = (request: SeenRequest | undefined): unknown => {
  const body = request?.init.body;
  return typeof body === 'string' ? JSON.parse(body) : undefined;
};
const healthy =
  (page: () => Response) =>
  ({ url: { pathname } }: SeenRequest): Response =>
    pathname === '/health' ? new Response('ok') : page();

describe('withCrawl4ai', () => {
  it('gives what the server read', async () => {
    const { reader, seen } = setUp(healthy(() => Response.json({ success: true, markdown: '# Hi' })));
    expect(await reader.read(url, how)).toMatchObject({ text: '# Hi', how: 'headless browser' });
    expect(seen.map((request) => `${request.method} ${request.url.href}`)).toEqual([
      'GET http://crawl.internal/health',
      'POST http://crawl.internal/md',
    ]);
  });

  it.each([
    ['is down', () => new Response('', { status: 500 })],
    ['answers without a page', healthy(() => Response.json({ success: false, markdown: '' }))],
    ['answers nonsense', healthy(() => new Response('<html>'))],
    ['fails', healthy(() => new Response('', { status: 502 }))],
  ])('reads the page itself when the server %s', async (_what, answer) => {
    expect(await setUp(answer).reader.read(url, how)).toBe(own);
  });

  it('asks for the page with the filter that is set', async () => {
    const { reader, seen } = setUp(
      healthy(() => Response.json({ markdown: 'x' })),
      { filter: 'raw' },
    );
    await reader.read(url, how);
    expect(bodyOf(seen[1])).toEqual({ url, f: 'raw' });
  });

  it('knows four filters, and takes "fit" with one warning for any other', () => {
    const warnings: string[] = [];
    const log = { ...silentLog, warn: (_facts: unknown, message: string) => void warnings.push(message) };
    const wanted = ['raw', ' FIT', 'bm25', 'llm'];
    expect(wanted.map((text) => parseCrawl4aiFilter(text, log))).toEqual(['raw', 'fit', 'bm25', 'llm']);
    expect(warnings).toEqual([]);
    expect(parseCrawl4aiFilter('best', log)).toBe('fit');
    expect(warnings).toEqual(['crawl4ai has no such filter, "fit" is used; known: fit, raw, bm25, llm']);
  });

  describe('with cookies', () => {
    const cookies = [{ name: 'session', value: 'c00kie', url: 'https://a.example/' }];
    const crawled = (page: unknown) => healthy(() => Response.json({ success: true, results: [page] }));
    const page = { success: true, markdown: { raw_markdown: 'all of it', fit_markdown: '# Fit' } };

    it('crawls the page in a browser that has them', async () => {
      const { reader, seen } = setUp(crawled({ ...page, metadata: { title: 'Inside' } }), { cookies });
      expect(await reader.read(url, how)).toMatchObject({ text: '# Fit', title: 'Inside', url });
      expect(seen[1]?.url.pathname).toBe('/crawl');
      expect(bodyOf(seen[1])).toMatchObject({
        urls: [url],
        browser_config: { params: { cookies: [{ type: 'dict', value: cookies[0] }] } },
      });
    });

    it('says where the page was found, and gives all of it where nothing was filtered', async () => {
      const moved = { ...page, markdown: { raw_markdown: 'all of it' }, redirected_url: 'https://a.example/b' };
      const { reader } = setUp(crawled({ ...moved, status_code: 302, redirected_status_code: 200 }), { cookies });
      expect(await reader.read(url, how)).toMatchObject({
        text: 'all of it',
        url: 'https://a.example/b',
        statusCode: 200,
      });
    });

    it.each([
      ['did not load', { ...page, success: false }],
      ['has no text', { success: true }],
      ['led to a refused address', { ...page, redirected_url: 'http://private.example/' }],
      ['is missing', undefined],
    ])('reads the page itself when the one that came %s', async (_what, result) => {
      expect(await setUp(crawled(result), { cookies }).reader.read(url, how)).toBe(own);
    });

    it('allows an answer four times the size of a page, as it holds the page several times', async () => {
      const { reader, seen } = setUp(crawled(page), { cookies });
      await reader.read(url, how);
      expect(seen[1]?.init?.limits?.maxBytes).toBe(4000);
    });
  });

  it('logs the beginning of what a failing server says, and no more', async () => {
    const reasons: string[] = [];
    const log = { ...silentLog, warn: ({ reason }: { reason?: unknown }) => void reasons.push(String(reason)) };
    const { fetch } = fakeFetch(healthy(() => new Response('x'.repeat(100_000), { status: 500 })));
    const crawl4ai = createCrawl4ai({
      fetch,
      baseUrl: 'http://crawl.internal',
      timeoutMs: 1000,
      maxBytes: 1000,
      filter: 'fit',
      cookies: [],
      clock: fakeClock(),
      log: silentLog,
    });
    const check = async (target: string | URL): Promise<URL> => new URL(target);
    await withCrawl4ai({ read: async () => own }, { crawl4ai, check, log }).read(url, how);
    expect(reasons).toEqual([expect.stringMatching(/^crawl4ai answered HTTP 500: x{150,199}…$/)]);
  });

  it('asks for the health of the server once a minute', async () => {
    const { reader, seen, clock } = setUp(() => new Response('', { status: 500 }));
    await reader.read(url, how);
    await reader.read(url, how);
    await clock.advance(60_000);
    await reader.read(url, how);
    expect(seen).toHaveLength(2);
  });

  it('tells the server nothing of a refused address, and leaves raw texts alone', async () => {
    const { reader, seen } = setUp(() => new Response('ok'));
    await expect(reader.read('https://private.example/', how)).rejects.toMatchObject({ code: 'address_refused' });
    expect(await reader.read(url, { ...how, mode: 'raw' })).toBe(own);
    expect(seen).toEqual([]);
  });
});
