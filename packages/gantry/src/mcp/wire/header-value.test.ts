import { describe, expect, it } from 'vitest';
import { decodedHeader, encodedHeader } from './header-value.ts';

const decoded = (value: string): string => Buffer.from(value.slice('=?base64?'.length, -2), 'base64').toString('utf8');

describe('a text as the value of a header', () => {
  it.each(['nord', 'two words', 'tab\tinside', '100 %'])('stays as it is where a header can hold it: %j', (text) => {
    expect(encodedHeader(text)).toBe(text);
  });

  it.each(['', ' lead', 'trail ', 'ö', 'a\r\nb: c', '\u0000', '=?base64?bm9yZA==?='])(
    'is encoded otherwise: %j',
    (text) => {
      expect(encodedHeader(text)).toMatch(/^=\?base64\?[A-Za-z0-9+/]*=*\?=$/);
      expect(decoded(encodedHeader(text))).toBe(text);
    },
  );

  it.each(['nord', '', ' lead', 'ö', '=?base64?bm9yZA==?='])('is read again as what it was: %j', (text) => {
    expect(decodedHeader(encodedHeader(text))).toBe(text);
  });

  it('is not read when it claims to be encoded and is not', () => {
    expect(decodedHeader('=?base64?n*rd?=')).toBeUndefined();
  });
});
