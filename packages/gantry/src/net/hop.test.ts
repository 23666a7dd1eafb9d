import { describe, expect, it } from 'vitest';
import { firstHop, nextHop } from './hop.ts';

const secrets = {
  authorization: 'Bearer x',
  cookie: 'a=b',
  'x-api-key': 'k',
  'x-subscription-token': 't',
  'x-trace': '1',
};

describe('firstHop', () => {
  it('reads any kind of body into memory under its content type', async () => {
    const form = await firstHop('http://example.com/', { method: 'post', body: new URLSearchParams({ a: 'b' }) });
    expect([form.method, form.headers.get('content-type')]).toEqual([
      'POST',
      'application/x-www-form-urlencoded;charset=UTF-8',
    ]);
    expect(Buffer.from(form.body ?? '').toString()).toBe('a=b');
  });

  it('keeps headers that belong to the connection out', async () => {
    const headers = { host: 'internal', connection: 'upgrade', 'transfer-encoding': 'chunked', 'x-ok': '1' };
    const hop = await firstHop('http://example.com/', { headers });
    expect([...hop.headers.keys()]).toEqual(['accept-encoding', 'x-ok']);
  });
});

describe('nextHop', () => {
  it.each([
    ['POST', 301, 'GET'],
    ['POST', 302, 'GET'],
    ['POST', 303, 'GET'],
    ['PUT', 303, 'GET'],
    ['HEAD', 303, 'HEAD'],
    ['PUT', 302, 'PUT'],
    ['POST', 307, 'POST'],
    ['POST', 308, 'POST'],
  ])('%s answered by %i becomes %s', async (method, status, expected) => {
    const body = method === 'HEAD' ? null : '{}';
    const first = await firstHop('http://example.com/', {
      method,
      body,
      headers: { 'content-type': 'application/json' },
    });
    const next = nextHop(first, status, '/next');
    const dropped = expected === 'GET';
    expect([next.method, next.body, next.headers.has('content-type')]).toEqual([
      expected,
      dropped ? null : body,
      !dropped,
    ]);
  });

  it('gives credentials to their own origin only', async () => {
    const first = await firstHop('https://example.com/', { headers: secrets });
    const names = (location: string) =>
      [...nextHop(first, 302, location).headers.keys()].filter((name) => name !== 'accept-encoding');
    expect(names('/next')).toEqual(Object.keys(secrets).sort());
    for (const location of ['https://other.example/', 'http://example.com/', 'https://example.com:8443/'])
      expect(names(location)).toEqual(['x-trace']);
  });

  it('fails without a location and on one that leaves the web', async () => {
    const first = await firstHop('https://example.com/', {});
    expect(() => nextHop(first, 302, undefined)).toThrow(/without saying where to go/);
    for (const location of ['file:///etc/passwd', 'https://u:p@example.com/'])
      expect(() => nextHop(first, 302, location)).toThrow(expect.objectContaining({ code: 'address_refused' }));
  });

  it('reads a location that is not ASCII as UTF-8', async () => {
    const first = await firstHop('https://example.com/', {});
    const asRead = Buffer.from('http://１２７.0.0.1/é').toString('latin1');
    expect(nextHop(first, 302, asRead).target.url.href).toBe('http://127.0.0.1/%C3%A9');
  });
});
