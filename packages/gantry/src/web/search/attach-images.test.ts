import { describe, expect, it } from 'vitest';
import { silentLog } from '../../kernel/log.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import type { SeenRequest } from '../../testing/fake-fetch.ts';
import { fakeFetch } from '../../testing/fake-fetch.ts';
import { createAttachImages } from './attach-images.ts';
import type { SearchHit } from './search-engine.ts';

const png = (bytes = 6_000): Buffer => Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(bytes)]);
const hit = (imageUrl: string | undefined, title = 'T'): SearchHit => ({
  title,
  url: 'https://page.example/',
  snippet: '',
  imageUrl,
});
const image = (name: string): string => `https://i.example/${name}`;

const setUp = (answer: (request: SeenRequest) => Response | Promise<Response>) => {
  const { fetch, seen } = fakeFetch(answer);
  const saved = new Map<string, number>();
  const clock = fakeClock();
  const attach = createAttachImages({
    fetch,
    volume: {
      saveNew: async (folder, name, bytes) => {
        saved.set(`${folder}/${name}`, bytes.byteLength);
        return { path: `/shared/${folder}/${name}`, name, size: bytes.byteLength };
      },
    },
    clock,
    log: silentLog,
  });
  const fetched = () => seen.filter(({ method }) => method === 'GET').map(({ url }) => url.pathname);
  return { attach, saved, clock, seen, fetched };
};

/** A server of pictures; `head` says what it tells of them beforehand. */
const pictures =
  (head: Record<string, string> = {}, body: Buffer = png()) =>
  ({ method }: SeenRequest): Response =>
    new Response(method === 'HEAD' ? null : new Uint8Array(body), {
      headers: { 'content-type': 'image/png', ...head },
    });

describe('createAttachImages', () => {
  it('keeps as many as are wanted, in the order in which they were found', async () => {
    const { attach, saved, fetched } = setUp(pictures());
    const images = await attach([hit(image('a.png'), 'A'), hit(image('b.jpeg'), 'B'), hit(image('c'))], { wanted: 2 });
    expect(images.map(({ hit: { title }, attachment }) => [title, attachment])).toEqual([
      ['A', { path: '/shared/images/a.png', name: 'a.png', size: 6_008, mime: 'image/png' }],
      // The bytes decide what it is.
      ['B', { path: '/shared/images/b.png', name: 'b.png', size: 6_008, mime: 'image/png' }],
    ]);
    expect(saved.size).toBe(2);
    expect(fetched()).toEqual(['/a.png', '/b.jpeg']);
  });

  it.each([
    ['is no image', { 'content-type': 'text/html' }],
    ['is AVIF', { 'content-type': 'image/avif' }],
    ['is a drawing with scripts', { 'content-type': 'image/svg+xml' }],
    ['is an icon', { 'content-length': '5119' }],
    ['is too large for surfaces', { 'content-length': String(8 * 1024 * 1024 + 1) }],
  ])('does not even fetch what %s', async (_what, head) => {
    const { attach, fetched } = setUp(pictures(head));
    expect(await attach([hit(image('a.png'))], { wanted: 3 })).toEqual([]);
    expect(fetched()).toEqual([]);
  });

  it.each([
    ['that is AVIF by its name', [hit(image('a.avif'))]],
    ['without an address', [hit(undefined), hit('no address')]],
  ])('asks nobody about a picture %s', async (_what, hits) => {
    const { attach, seen } = setUp(pictures());
    expect(await attach(hits, { wanted: 3 })).toEqual([]);
    expect(seen).toEqual([]);
  });

  it('takes the next one for what turned out to be something else, too small, too large or gone', async () => {
    const { attach, fetched } = setUp((request) => {
      const name = request.url.pathname;
      if (request.method === 'HEAD') return pictures()(request);
      if (name === '/page') return new Response('<html>'.padEnd(6_000));
      if (name === '/small') return pictures({}, png(100))(request);
      if (name === '/large') return pictures({}, png(8 * 1024 * 1024))(request);
      if (name === '/gone') return new Response(null, { status: 404 });
      if (name === '/refused') throw new Error('refused');
      return pictures()(request);
    });
    const names = ['page', 'small', 'large', 'gone', 'refused', 'good', 'spare'];
    const images = await attach(
      names.map((name) => hit(image(name))),
      { wanted: 1 },
    );
    expect(images.map(({ attachment }) => attachment.name)).toEqual(['good.png']);
    expect(fetched()).toEqual(['/page', '/small', '/large', '/gone', '/refused', '/good']);
  });

  it('asks for each picture once', async () => {
    const { attach, seen } = setUp(pictures());
    await attach([hit(image('a.png')), hit(image('a.png'))], { wanted: 5 });
    expect(seen.map(({ method }) => method)).toEqual(['HEAD', 'GET']);
  });

  it('waits 3 s for all answers together, and goes on with those that came', async () => {
    const { attach, clock } = setUp((request) => {
      if (request.url.pathname !== '/slow') return pictures()(request);
      const { signal } = request.init;
      return new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error)));
    });
    const images = attach([hit(image('slow')), hit(image('quick'))], { wanted: 2 });
    await clock.advance(3_000);
    expect((await images).map(({ attachment }) => attachment.name)).toEqual(['quick.png']);
  });

  it('stops with the call that wanted them', async () => {
    const controller = new AbortController();
    const { attach, saved } = setUp((request) => {
      controller.abort();
      return pictures()(request);
    });
    await expect(attach([hit(image('a.png'))], { wanted: 1, signal: controller.signal })).rejects.toMatchObject({
      code: 'cancelled',
    });
    expect(saved.size).toBe(0);
  });
});
