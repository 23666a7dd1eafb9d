import { gzipSync } from 'node:zlib';
import type { Gantry } from 'gantry';
import { createGantry, outcomeText } from 'gantry';
import { createOwnListeners } from 'gantry/net';
import { afterEach, describe, expect, it } from 'vitest';
import type { WebOptions } from '../packages/gantry/src/web/web.ts';
import { web } from '../packages/gantry/src/web/web.ts';
import type { LoopbackServer } from './fixtures/listen-on-loopback.ts';
import { listenOnLoopback } from './fixtures/listen-on-loopback.ts';

const running: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of running.splice(0).toReversed()) await one[Symbol.asyncDispose]();
});

const chapter = (number: number): string =>
  `<h2>Chapter ${number}</h2><p>${`Words of chapter ${number}. `.repeat(150)}</p>`;
const pages: Readonly<Record<string, string>> = {
  '/short': `<title>Short</title><main><p>${'It is a short page. '.repeat(20)}<a href="next">on</a></p></main>`,
  '/long': `<title>Long</title><main>${[1, 2, 3, 4].map(chapter).join('')}</main>`,
};

const site = async (): Promise<LoopbackServer & { readonly origin: string; readonly asked: string[] }> => {
  const asked: string[] = [];
  const server = await listenOnLoopback((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    if (request.url === '/moved') return void response.writeHead(302, { location: '/short' }).end();
    if (request.url === '/endless') {
      response.writeHead(200, { 'content-type': 'text/plain' });
      const more = (): void => {
        while (response.write('words '.repeat(10_000)));
        response.once('drain', more);
      };
      if (request.method === 'GET') more();
      else response.end();
      return;
    }
    const page = pages[request.url ?? ''];
    if (page === undefined) return void response.writeHead(404, 'Not Found').end();
    response.writeHead(200, { 'content-type': 'text/html', 'content-encoding': 'gzip' }).end(gzipSync(page));
  });
  running.push(server);
  return { ...server, asked, origin: new URL(server.url).origin };
};

const start = async (options: WebOptions = {}): Promise<Gantry> => {
  const gantry = await createGantry({ dataDir: ':memory:', config: undefined })
    .use(web({ env: { RUN_ENV: 'development' }, ...options }))
    .start();
  running.push(gantry);
  return gantry;
};
const context = { caller: 'model', namespace: 'session/1' } as const;

describe('reading pages', () => {
  it('reads a page where its redirect leads, with links that can be followed', async () => {
    const { origin } = await site();
    const gantry = await start();
    const text = outcomeText(await gantry.call('web_browse', { url: `${origin}/moved` }, context));
    expect(text).toMatch(/^Source: http:\/\/127\.0\.0\.1:\d+\/short \(via http\)/);
    expect(text).toContain('# Short');
    expect(text).toContain(`[on](${origin}/next)`);
  });

  it('keeps a long page in pieces that can be read by the keys it names', async () => {
    const { origin } = await site();
    const gantry = await start();
    const text = outcomeText(await gantry.call('web_browse', { url: `${origin}/long` }, context));
    const keys = [...text.matchAll(/\| `(session\/1\/web-[^`]+-chunk\d+)` \|/g)].map(([, key]) => key as string);
    expect(keys).toHaveLength(4);
    const pieces = await Promise.all(
      keys.map(async (key) => outcomeText(await gantry.call('get_from_working_memory', { key }, context))),
    );
    for (const number of [1, 2, 3, 4]) expect(pieces.join('\n')).toContain(`Words of chapter ${number}.`);
  });

  it('stops an endless page at the limit and gives its beginning', async () => {
    const { origin } = await site();
    const gantry = await start({ maxFetchSizeMb: 1 });
    const text = outcomeText(await gantry.call('fetch_url', { url: `${origin}/endless`, max_length: 100 }, context));
    expect(text).toContain('stopped at 1048576 bytes');
    expect(text).toContain('of 1048576');
  });

  it('says what a failing server said', async () => {
    const { origin } = await site();
    const gantry = await start();
    const outcome = await gantry.call('web_browse', { url: `${origin}/nothing` }, context);
    expect([outcome.status, outcomeText(outcome)]).toEqual(['failed', 'Failed to fetch page: HTTP 404 Not Found.']);
  });
});

describe('the inside of the network', () => {
  it.each(['web_browse', 'fetch_url'])('is closed to %s in production, and nothing is asked', async (tool) => {
    const { origin, asked } = await site();
    const gantry = await start({ env: {} });
    for (const url of [
      origin,
      origin.replace('127.0.0.1', 'localhost'),
      origin.replace('127.0.0.1', '[::ffff:7f00:1]'),
    ]) {
      const outcome = await gantry.call(tool, { url: `${url}/short` }, context);
      expect(outcome.status).toBe('failed');
      expect(outcomeText(outcome)).toContain('FETCH_URL_ALLOW_PRIVATE_NETWORK=true');
    }
    expect(asked).toEqual([]);
  });

  it('does not hold the listeners of this process, whatever is allowed', async () => {
    const { origin, asked } = await site();
    const own = createOwnListeners();
    own.add(Number(new URL(origin).port));
    const gantry = await start({ isOwnListener: own.isOwnListener });
    const outcome = await gantry.call('web_browse', { url: `${origin}/short` }, context);
    expect(outcomeText(outcome)).toContain('listener of Gantry itself');
    expect(asked).toEqual([]);
  });
});

describe('the plugin', () => {
  it('offers its tools and a guide that speaks of rendering only where there is a browser', async () => {
    const gantry = await start();
    const names = gantry
      .toolset()
      .tools.filter(({ source }) => source === 'web')
      .map(({ name }) => name);
    expect(names).toEqual(['fetch_url', 'web_browse', 'web_search']);
    expect(gantry.guides.find('web')?.getDocument()).not.toContain('render: true');
    const rendering = await start({ render: () => Promise.reject(new Error('unused')) });
    expect(rendering.guides.find('web')?.getDocument()).toContain('render: true');
  });
});
