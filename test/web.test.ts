import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Gantry } from 'gantry';
import { createGantry, outcomeText, silentLog } from 'gantry';
import { createOwnListeners } from 'gantry/net';
import { braveKeyName } from 'gantry/web';
import { afterEach, describe, expect, it } from 'vitest';
import type { WebOptions } from '../packages/gantry/src/web/web.ts';
import { web } from '../packages/gantry/src/web/web.ts';
import type { LoopbackServer } from './fixtures/listen-on-loopback.ts';
import { listenOnLoopback } from './fixtures/listen-on-loopback.ts';
import { publicNetwork, startServer } from './fixtures/public-web.ts';

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

describe('a name that no resolver knows', () => {
  it.each([
    ['in production', {}],
    ['in production with private networks open', { FETCH_URL_ALLOW_PRIVATE_NETWORK: 'true' }],
    ['elsewhere', { RUN_ENV: 'development' }],
  ])('is refused %s, and no engine hears of it', async (_where, env) => {
    const crawl4ai = await startServer((_request, response) => void response.end('{}'));
    running.push(crawl4ai);
    const gantry = await start({
      env,
      network: { lookup: async () => [] },
      fetchEngineOrder: 'crawl4ai,safe_http',
      crawl4aiBaseUrl: `http://127.0.0.1:${crawl4ai.port}`,
    });
    for (const tool of ['fetch_url', 'web_browse']) {
      const outcome = await gantry.call(tool, { url: 'http://nobody.example/' }, context);
      expect(outcome.status).toBe('failed');
      expect(outcomeText(outcome)).toMatch(/nobody\.example.*no addresses/);
    }
    expect(crawl4ai.asked).toEqual([]);
  });
});

describe('a Crawl4AI server', () => {
  it('reads for fetch_url where private networks are open, with the cookies that are set', async () => {
    let sent = '';
    const crawl4ai = await startServer((request, response) => {
      if (request.url === '/health') return void response.end('{}');
      request.on('data', (piece: Buffer) => (sent += piece.toString()));
      request.on('end', () =>
        response.end(JSON.stringify({ success: true, results: [{ success: true, markdown: '# From the crawler' }] })),
      );
    });
    running.push(crawl4ai);
    const gantry = await start({
      network: { lookup: async () => ['93.184.215.14'] },
      fetchEngineOrder: 'crawl4ai',
      crawl4aiBaseUrl: `http://127.0.0.1:${crawl4ai.port}`,
      crawl4aiCookies: [{ name: 'a', value: 'b', url: 'http://public.example/' }],
    });
    const outcome = await gantry.call('fetch_url', { url: 'http://public.example/' }, context);
    expect(outcomeText(outcome)).toContain('# From the crawler');
    expect(crawl4ai.asked).toEqual(['/health', '/crawl']);
    expect(sent).toContain('"name":"a"');
  });
});

describe('searching', () => {
  const braveSite = async () => {
    const tokens: unknown[] = [];
    const picture = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(6_000)]);
    const server = await startServer((request, response) => {
      if (request.url?.startsWith('/res/') === true) {
        tokens.push(request.headers['x-subscription-token']);
        const results = [
          { title: 'A ship', url: 'https://a.example/', properties: { url: 'https://a.example/ship.png' } },
        ];
        response.setHeader('content-type', 'application/json').end(JSON.stringify({ results, web: { results } }));
      } else response.setHeader('content-type', 'image/png').end(request.method === 'HEAD' ? undefined : picture);
    });
    running.push(server);
    return { tokens, picture, network: publicNetwork(server.port) };
  };

  it('uses the key that a workspace brought along, before the one of the operator', async () => {
    const { tokens, network } = await braveSite();
    const gantry = await start({ env: { BRAVE_API_KEY: 'ours' }, network, searchMinIntervalMs: 0 });
    await gantry.store.secrets.put(braveKeyName('guild-1'), 'theirs');
    for (const workspace of ['guild-1', 'guild-2'])
      await gantry.call('web_search', { query: 'q' }, { ...context, workspace });
    expect(tokens).toEqual(['theirs', 'ours']);
  });

  it('leaves the images that it found in the shared folder', async () => {
    const { network, picture } = await braveSite();
    const dataDir = mkdtempSync(join(tmpdir(), 'gantry-web-'));
    running.push({ [Symbol.asyncDispose]: async () => rmSync(dataDir, { recursive: true, force: true }) });
    const gantry = await createGantry({ dataDir, config: undefined, log: silentLog })
      .use(web({ env: { BRAVE_API_KEY: 'ours' }, network }))
      .start();
    running.push(gantry);
    const outcome = await gantry.call('web_search', { query: 'ships', category: 'image' }, context);
    const [attachment] = (outcome.status === 'done' && outcome.attachments) || [];
    expect(attachment).toMatchObject({ name: 'ship.png', mime: 'image/png', size: picture.byteLength });
    expect(readFileSync(attachment?.path ?? '')).toEqual(picture);
    expect(outcomeText(outcome)).toContain(attachment?.path);
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
