import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../kernel/json.ts';
import { urlHost } from './url-host.ts';

const options = { args: ['url'], allowedHosts: ['docs.example.com', '*.wiki.test', '[::1]'] };
const check = (args: JsonObject, more: object = {}): Promise<string | undefined> =>
  urlHost({ ...options, ...more })({ server: 's', tool: 'fetch', args });

describe('a URL', () => {
  it.each<[JsonObject[string]]>([
    ['https://docs.example.com/a?b#c'],
    ['http://DOCS.example.com.:8080/'],
    ['https://en.wiki.test/'],
    ['https://a.b.wiki.test/@user'],
    ['http://[::1]/'],
    [['https://docs.example.com', 'https://en.wiki.test']],
  ])('%j passes', async (url) => {
    expect(await check({ url })).toBeUndefined();
  });

  it.each<[JsonObject[string], string]>([
    ['https://evil.test/', 'host "evil.test"'],
    ['https://wiki.test/', 'host "wiki.test"'],
    ['https://evilwiki.test/', 'host "evilwiki.test"'],
    ['https://docs.example.com.evil.test/', 'host "docs.example.com.evil.test"'],
    ['https://docs.example.com@evil.test/', 'holds a user name'],
    ['https://evil.test\\@docs.example.com/', 'backslashes'],
    ['https://docs.example.com\n.evil.test/', 'control characters'],
    ['ftp://docs.example.com/', 'kind "ftp:"'],
    ['file:///etc/passwd', 'kind "file:"'],
    ['https:docs.example.com', 'not a whole URL'],
    ['docs.example.com', 'not a whole URL'],
    ['', 'is not a URL'],
    [null, 'is not a URL'],
    [['https://docs.example.com', 'https://evil.test'], 'host "evil.test"'],
  ])('%j is rejected and told why', async (url, why) => {
    const reason = await check({ url });
    expect(reason).toContain('Argument "url" is');
    expect(reason).toContain(why);
    expect(reason).toContain('"docs.example.com", "*.wiki.test"');
  });
});

it('lets a missing argument pass unless it is required', async () => {
  expect(await check({})).toBeUndefined();
  expect(await check({}, { requireArgs: true })).toContain('"url" is missing');
});

it.each([[['*']], [['https://a.test']], [['a.test:80']], [['a.test/x']], [['*.']], [['a.*.test']], [[]]])(
  'refuses the allowed hosts %j',
  (allowedHosts) => {
    expect(() => urlHost({ args: ['url'], allowedHosts })).toThrow(expect.objectContaining({ code: 'config_invalid' }));
  },
);
