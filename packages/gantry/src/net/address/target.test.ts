import { expect, it } from 'vitest';
import { parseTarget } from './target.ts';

it.each([
  ['http://example.com', 'example.com', 80, false],
  ['https://EXAMPLE.com./a?b#c', 'example.com', 443, false],
  ['http://localhost../', 'localhost', 80, false],
  ['https://example.com:8443/', 'example.com', 8443, false],
  ['http://bücher.example/', 'xn--bcher-kva.example', 80, false],
  ['http://2130706433/', '127.0.0.1', 80, true],
  ['http://0x7f.1/', '127.0.0.1', 80, true],
  ['http://0177.0.0.1/', '127.0.0.1', 80, true],
  ['http://127%2e0%2e0%2e1/', '127.0.0.1', 80, true],
  ['http://①②⑦.0.0.1/', '127.0.0.1', 80, true],
  ['http://127。0。0。1/', '127.0.0.1', 80, true],
  ['http://127.0.0.1./', '127.0.0.1', 80, true],
  ['http:\\\\127.0.0.1\\', '127.0.0.1', 80, true],
  [' http://127.0.0.1/\n', '127.0.0.1', 80, true],
  ['http://[::FFFF:127.0.0.1]:81/', '::ffff:7f00:1', 81, true],
])('reads the host of %j', (text, host, port, literal) =>
  expect(parseTarget(text)).toMatchObject({ host, port, literal }),
);

it.each([
  ['nonsense', 'INVALID_FORMAT'],
  ['', 'INVALID_FORMAT'],
  ['//example.com/', 'INVALID_FORMAT'],
  ['http://', 'INVALID_FORMAT'],
  ['http://./', 'INVALID_FORMAT'],
  ['http://a..b/', 'INVALID_FORMAT'],
  ['http://256.256.256.256/', 'INVALID_FORMAT'],
  ['http://[fe80::1%25eth0]/', 'INVALID_FORMAT'],
  ['http://user@example.com/', 'INVALID_FORMAT'],
  ['http://:secret@example.com/', 'INVALID_FORMAT'],
  ['file:///etc/passwd', 'INVALID_PROTOCOL'],
  ['gopher://127.0.0.1:70/', 'INVALID_PROTOCOL'],
  ['ftp://example.com/', 'INVALID_PROTOCOL'],
  ['data:text/plain,hi', 'INVALID_PROTOCOL'],
  ['javascript:alert(1)', 'INVALID_PROTOCOL'],
  ['blob:http://example.com/1', 'INVALID_PROTOCOL'],
  ['ws://example.com/', 'INVALID_PROTOCOL'],
  ['http://example.com:25/', 'PORT_BLOCKED'],
  ['https://example.com:6667/', 'PORT_BLOCKED'],
  ['http://example.com:0/', 'PORT_BLOCKED'],
])('refuses %j as %s', (text, reason) =>
  expect(() => parseTarget(text)).toThrow(
    expect.objectContaining({ code: 'address_refused', details: expect.objectContaining({ reason }) }),
  ),
);

it('resolves a relative location, and keeps credentials out of messages', () => {
  expect(parseTarget('//other.example/x', new URL('https://example.com/')).url.href).toBe('https://other.example/x');
  for (const text of ['http://user:hunter2@example.com/', 'http://user:hunter2@/'])
    expect(() => parseTarget(text)).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('hunter2') }),
    );
});
