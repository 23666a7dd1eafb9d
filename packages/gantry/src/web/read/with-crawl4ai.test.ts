import { describe, expect, it } from 'vitest';
import { GantryError } from '../../kernel/errors.ts';
import { silentLog } from '../../kernel/log.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import type { SeenRequest } from '../../testing/fake-fetch.ts';
import { fakeFetch } from '../../testing/fake-fetch.ts';
import { createCrawl4ai } from './crawl4ai.ts';
import type { PageReader, ReadResult } from './page-reader.ts';
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

const setUp = (answer: (request: SeenRequest) => Response) => {
  const { fetch, seen } = fakeFetch(answer);
  const clock = fakeClock();
  const crawl4ai = createCrawl4ai({
    fetch,
    baseUrl: 'http://crawl.internal/',
    timeoutMs: 1000,
    maxBytes: 1000,
    clock,
    log: silentLog,
  });
  const inner: PageReader = { read: async () => own };
  const check = async (target: string | URL): Promise<URL> => {
    if (String(target).includes('private')) throw new GantryError('address_refused', 'private');
    return new URL(target);
  };
  return { reader: withCrawl4ai(inner, { crawl4ai, check, log: silentLog }), seen, clock };
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
