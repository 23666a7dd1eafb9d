import { describe, expect, it } from 'vitest';
import { decodeBytes } from './decode-bytes.ts';

const hex = (text: string): Uint8Array => Buffer.from(text, 'hex');
const latin = (text: string): Uint8Array => Buffer.from(text, 'latin1');
const decode = (bytes: Uint8Array, charset?: string, isHtml = true): string => decodeBytes(bytes, { charset, isHtml });

describe('decodeBytes', () => {
  it.each([
    ['a byte order mark before the header', hex('fffe3c0070003e00e400'), 'utf-8', '<p>ä'],
    ['the header before the page', latin('<meta charset=utf-8>\xe4'), 'windows-1252', '<meta charset=utf-8>ä'],
    ['ISO-8859-1 as windows-1252', hex('63616680'), 'iso-8859-1', 'caf€'],
    [
      'the page where the header names nothing known',
      latin('<meta charset="windows-1251">\xcf'),
      'nonsense',
      '<meta charset="windows-1251">П',
    ],
    [
      'the old form of the declaration',
      latin('<meta http-equiv=content-type content="text/html; charset=koi8-r">\xf0'),
      undefined,
      '<meta http-equiv=content-type content="text/html; charset=koi8-r">П',
    ],
    [
      'the declaration of XML',
      latin('<?xml version="1.0" encoding="windows-1251"?>\xcf'),
      undefined,
      '<?xml version="1.0" encoding="windows-1251"?>П',
    ],
    ['UTF-8 where nothing is declared', Buffer.from('<p>größe'), undefined, '<p>größe'],
    [
      'UTF-8 for a declaration of UTF-16 that cannot be one',
      latin('<meta charset=utf-16>x'),
      undefined,
      '<meta charset=utf-16>x',
    ],
  ])('takes %s', (_what, bytes, charset, text) => {
    expect(decode(bytes, charset)).toBe(text);
  });

  it('finds a declaration behind the first kilobyte, but none in a comment', () => {
    const late = `${' '.repeat(5_000)}<meta charset=windows-1251>`;
    expect(decode(latin(`${late}\xcf`))).toContain('П');
    expect(decode(latin(`<!-- <meta charset=windows-1251> -->caf\xe9, d\xe9j\xe0 vu, tr\xe8s bien`))).toContain('café');
  });

  it('guesses from the letters when nothing is declared', () => {
    const russian =
      '\u041f\u0440\u0438\u0432\u0435\u0442, \u043a\u0430\u043a \u0434\u0435\u043b\u0430 \u0443 \u0432\u0430\u0441 \u0441\u0435\u0433\u043e\u0434\u043d\u044f? ';
    const bytes = Uint8Array.from(russian.repeat(5), (letter) => {
      const code = letter.codePointAt(0) ?? 0;
      return code >= 0x410 ? code - 0x410 + 0xc0 : code;
    });
    expect(decode(bytes)).toContain('\u041f\u0440\u0438\u0432\u0435\u0442');
  });

  it('ignores declarations in what is no HTML', () => {
    expect(decode(Buffer.from('<meta charset=windows-1251> é'), undefined, false)).toContain('é');
  });

  it('never fails, and leaves control characters out', () => {
    expect(decode(hex('61ff62'), 'utf-8')).toBe('a\ufffdb');
    expect(decode(hex('610000621b5b63'), 'utf-8')).toBe('ab[c');
  });
});
