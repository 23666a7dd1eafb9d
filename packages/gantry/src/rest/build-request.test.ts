import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../kernel/json.ts';
import { buildRequest } from './build-request.ts';
import type { RestEndpoint } from './endpoint.ts';

const env = { TOKEN: 'tok-12345', USER: 'ada', PASSWORD: 'pa:ss', BROKEN: 'line\nbreak', EMPTY: '' };
const build = (endpoint: Partial<RestEndpoint>, args: JsonObject = {}) =>
  buildRequest('demo', { description: 'x', url: 'https://api.example/', ...endpoint }, args, env);

describe('the address', () => {
  it.each<[string, JsonObject, string]>([
    ['https://api.example/u/{id}', { id: 'a/b?c#d e' }, 'https://api.example/u/a%2Fb%3Fc%23d%20e'],
    ['https://api.example/u/{id}?x={x}', { id: 'é', x: '&y=1' }, 'https://api.example/u/%C3%A9?x=%26y%3D1'],
    ['https://api.example/u/{id}', { id: '\ud800' }, 'https://api.example/u/%EF%BF%BD'],
    ['https://api.example/u/{id}', { id: '%2e%2e' }, 'https://api.example/u/%252e%252e'],
    ['https://api.example/u/{id}.json', { id: '..' }, 'https://api.example/u/...json'],
    ['https://api.example/u/{id}', { id: '@evil.example' }, 'https://api.example/u/%40evil.example'],
  ])('of %s with %j is %s', (url, args, expected) => {
    expect(build({ url }, args).url.href).toBe(expected);
  });

  it.each<[string, JsonObject, RegExp]>([
    ['https://api.example/u/{id}/x', { id: '..' }, /"\." or "\.\."/],
    ['https://api.example/u/{id}', { id: '.' }, /"\." or "\.\."/],
    ['https://api.example/{a}{b}/x', { a: '.', b: '.' }, /"\." or "\.\."/],
    ['https://api.example/u/{id}', {}, /needs the argument "id"/],
    ['https://api.example/u/{id}', { id: null }, /needs the argument "id"/],
    ['https://api.example/u/{id}', { id: '' }, /needs the argument "id"/],
  ])('of %s with %j is refused', (url, args, message) => {
    expect(() => build({ url }, args)).toThrow(
      expect.objectContaining({ code: 'invalid_arguments', message: expect.stringMatching(message) }),
    );
  });

  it('gets the query parameters that are given, and keeps those of the url', () => {
    const query = { q: '{q}', tag: '{tags}', gone: '{gone}', key: '${TOKEN}', fixed: 'yes' };
    expect(build({ url: 'https://api.example/?v=2', query }, { q: 'a&b', tags: ['x', 'y'] }).url.search).toBe(
      '?v=2&q=a%26b&tag=x&tag=y&key=tok-12345&fixed=yes',
    );
  });
});

describe('headers and sign-in', () => {
  it.each<[RestEndpoint['auth'], string, string]>([
    [{ type: 'bearer', env: 'TOKEN' }, 'authorization', 'Bearer tok-12345'],
    [{ type: 'basic', usernameEnv: 'USER', passwordEnv: 'PASSWORD' }, 'authorization', 'Basic YWRhOnBhOnNz'],
    [{ type: 'header', name: 'X-Key', env: 'TOKEN' }, 'x-key', 'tok-12345'],
  ])('signs in by %j', (auth, name, value) => {
    expect(build({ auth }).headers.get(name)).toBe(value);
  });

  it('names every secret it used, as it stands and as it is sent', () => {
    const auth = { type: 'basic', usernameEnv: 'USER', passwordEnv: 'PASSWORD' } as const;
    expect(build({ auth, headers: { 'x-a': 'k=${TOKEN}' } }).secrets).toEqual(['tok-12345', 'pa:ss', 'YWRhOnBhOnNz']);
  });

  it('does not take what an argument says for a placeholder', () => {
    const { headers, secrets } = build({ headers: { 'x-q': '{q}' } }, { q: '${TOKEN}' });
    expect([headers.get('x-q'), secrets]).toEqual(['${TOKEN}', []]);
  });

  it.each(['MISSING', 'EMPTY'])('says which variable is not set: %s', (variable) => {
    expect(() => build({ auth: { type: 'bearer', env: variable } })).toThrow(
      expect.objectContaining({ code: 'auth_required', message: expect.stringContaining(variable) }),
    );
  });

  it('refuses line breaks in headers without showing what stands around them', () => {
    for (const make of [
      () => build({ auth: { type: 'bearer', env: 'BROKEN' } }),
      () => build({ headers: { 'x-q': '{q}' } }, { q: 'line\r\nx-evil: 1' }),
    ])
      expect(make).toThrow(
        expect.objectContaining({ code: 'invalid_arguments', message: expect.not.stringMatching(/line\s*\n|evil/) }),
      );
  });
});

describe('the body', () => {
  const bodyOf = (endpoint: Partial<RestEndpoint>, args: JsonObject) => {
    const { body, headers } = build(endpoint, args);
    return [body, headers.get('content-type')];
  };
  it.each<[Partial<RestEndpoint>, JsonObject, (string | undefined)[]]>([
    [{ method: 'GET' }, { a: 1 }, [undefined, '-']],
    [
      { method: 'POST', url: 'https://api.example/{id}' },
      { id: 1, a: 'x', b: [2] },
      ['{"a":"x","b":[2]}', 'application/json'],
    ],
    [{ method: 'PUT', body: { v: '{a}', n: 1 } }, { a: false }, ['{"v":false,"n":1}', 'application/json']],
    [{ method: 'PATCH', body: 'say {a}' }, { a: 'hi' }, ['say hi', 'text/plain; charset=utf-8']],
    [
      { method: 'POST', body: '<a>{a}</a>', headers: { 'content-type': 'application/xml' } },
      { a: 1 },
      ['<a>1</a>', 'application/xml'],
    ],
    [
      { method: 'POST', bodyType: 'form' },
      { a: 'x y', b: [1, 2], c: null },
      ['a=x+y&b=1&b=2', 'application/x-www-form-urlencoded'],
    ],
    [{ method: 'DELETE' }, { a: 1 }, [undefined, '-']],
    [{ method: 'DELETE', body: { a: '{a}' } }, { a: 1 }, ['{"a":1}', 'application/json']],
  ])('of %j with %j is %j', (endpoint, args, [body, type]) => {
    expect(bodyOf(endpoint, args)).toEqual([body, type === '-' ? null : type]);
  });
});
