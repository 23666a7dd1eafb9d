import { expect, it } from 'vitest';
import { matchesTemplate } from './uri-template.ts';

it.each([
  ['docs://files/{name}', 'docs://files/a', true],
  ['docs://files/{name}', 'docs://files/a/b', false],
  ['docs://files/{name}', 'docs://files/', false],
  ['docs://files/{+path}', 'docs://files/a/b/c.md', true],
  ['docs://files/{+path}', 'docs://files/', false],
  ['docs://search{?q,limit}', 'docs://search', true],
  ['docs://search{?q,limit}', 'docs://search?q=x&limit=2', true],
  ['docs://search{?q}', 'docs://searching', false],
  ['docs://search?q=a{&more}', 'docs://search?q=a&more=b', true],
  ['docs://page{#part}', 'docs://page#top', true],
  ['docs://page{#part}', 'docs://page', true],
  ['docs://root{/path}', 'docs://root/a', true],
  ['docs://root{/path}', 'docs://root', true],
  ['docs://root{/path}', 'docs://rootless', false],
  ['docs://file{.ext}', 'docs://file.md', true],
  ['docs://file{.ext}', 'docs://file', true],
  ['docs://file{.ext}', 'docs://file.a/b', false],
  ['docs://a.b/(c)+{x}', 'docs://a.b/(c)+1', true],
  ['docs://a.b/{x}', 'docs://aXb/1', false],
  ['docs://open/{x', 'docs://open/{x', true],
  ['docs://open/{x', 'docs://open/1', false],
  ['docs://{a}/and/{b}', 'docs://1/and/2', true],
])('%s and %s: %s', (template, uri, matches) => {
  expect(matchesTemplate(template, uri)).toBe(matches);
});
