import { describe, expect, it } from 'vitest';
import { GantryError } from '../../kernel/errors.ts';
import type { SeenRequest } from '../../testing/fake-fetch.ts';
import { fakeFetch } from '../../testing/fake-fetch.ts';
import { createFetchBody } from './fetch-body.ts';

const setUp = (answer: (request: SeenRequest) => Response | Promise<Response>) => {
  const { fetch, seen } = fakeFetch(answer);
  const checked: string[] = [];
  const check = async (url: string | URL): Promise<URL> => {
    checked.push(String(url));
    if (String(url).includes('private')) throw new GantryError('address_refused', 'private');
    return new URL(url);
  };
  const fetchBody = createFetchBody({ fetch, check }, { timeoutMs: 1000, maxBytes: 100, maxRedirects: 5 });
  return { fetchBody, seen, checked };
};
const typed = (body: string | null, type: string, init: ResponseInit = {}): Response =>
  new Response(body, { ...init, headers: { 'content-type': type, ...(init.headers as object) } });
const how = { userAgent: 'test' };

describe('createFetchBody', () => {
  it.each([
    ['text/html; charset=x', '<p>', 'html'],
    ['application/json', '{}', 'json'],
    ['text/plain', '<p>source', 'text'],
    ['text/plain', '%PDF-1.4', 'pdf'],
    ['', '<p>no type', 'html'],
    ['application/octet-stream', 'words', 'text'],
  ])('says of %s what it is', async (type, body, kind) => {
    const { fetchBody } = setUp(() => typed(body, type));
    expect(await fetchBody('https://a.example/', how)).toMatchObject({ kind, statusCode: 200, truncated: false });
  });

  it.each([
    ['image/png', 'x', /image \(image\/png\).*looks at images/],
    ['application/zip', 'x', /binary file \(application\/zip\)/],
    ['', 'PK\u0003\u0004', /binary file \(no type given\)/],
  ])('refuses %s with advice', async (type, body, message) => {
    await expect(setUp(() => typed(body, type)).fetchBody('https://a.example/', how)).rejects.toThrow(message);
  });

  it('keeps the beginning of a text that is too long, and refuses such a PDF', async () => {
    const { fetchBody } = setUp(() => typed('x'.repeat(101), 'text/markdown'));
    const body = await fetchBody('https://a.example/', how);
    expect([body.bytes.byteLength, body.truncated]).toEqual([100, true]);
  });

  it('fails with the status of an HTTP error', async () => {
    const { fetchBody } = setUp(() => new Response('', { status: 404, statusText: 'Not Found' }));
    await expect(fetchBody('https://a.example/', how)).rejects.toMatchObject({
      message: 'HTTP 404 Not Found.',
      details: { status: 404 },
      retry: 'never',
    });
  });

  it('asks for the size first where it should, and fetches nothing that is too large', async () => {
    const { fetchBody, seen } = setUp(
      () => new Response(null, { headers: { 'content-length': '101', 'content-type': 'text/html' } }),
    );
    await expect(fetchBody('https://a.example/', { ...how, sizeFirst: true })).rejects.toMatchObject({
      code: 'response_too_large',
    });
    expect(seen.map(({ method }) => method)).toEqual(['HEAD']);
  });

  it.each([
    ['refuses the question', () => new Response(null, { status: 405 })],
    ['names no size', () => new Response(null)],
    ['fails', () => Promise.reject(new GantryError('timeout', 'late'))],
  ])('fetches all the same when the server %s', async (_what, head) => {
    const { fetchBody, seen } = setUp(({ method }) => (method === 'HEAD' ? head() : typed('ok', 'text/markdown')));
    expect((await fetchBody('https://a.example/', { ...how, sizeFirst: true })).kind).toBe('text');
    expect(seen.map(({ method }) => method)).toEqual(['HEAD', 'GET']);
  });

  it('does not even ask a refused address for its size', async () => {
    const { fetchBody, seen } = setUp(() => typed('ok', 'text/html'));
    await expect(fetchBody('https://private.example/', { ...how, sizeFirst: true })).rejects.toMatchObject({
      code: 'address_refused',
    });
    expect(seen).toEqual([]);
  });
});
