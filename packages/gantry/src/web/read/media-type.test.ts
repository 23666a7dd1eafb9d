import { describe, expect, it } from 'vitest';
import { kindOfBytes, kindOfType, parseContentType } from './media-type.ts';

describe('parseContentType', () => {
  it.each([
    ['Text/HTML; Charset="UTF-8"; q=1', { type: 'text/html', charset: 'utf-8' }],
    ['text/plain;charset=iso-8859-1', { type: 'text/plain', charset: 'iso-8859-1' }],
    ['nonsense', { type: '', charset: undefined }],
    [null, { type: '', charset: undefined }],
  ])('reads %s', (header, parts) => {
    expect(parseContentType(header)).toEqual(parts);
  });
});

describe('kindOfType', () => {
  it.each([
    ['text/html', 'html'],
    ['application/xhtml+xml', 'html'],
    ['application/problem+json', 'json'],
    ['application/pdf', 'pdf'],
    ['image/png', 'image'],
    ['image/svg+xml', 'image'],
    ['text/markdown', 'text'],
    ['application/atom+xml', 'text'],
    ['application/zip', 'binary'],
    ['audio/mpeg', 'binary'],
    ['application/octet-stream', undefined],
    ['text/plain', undefined],
    ['', undefined],
  ])('says of %s that it is %s', (type, kind) => {
    expect(kindOfType(type)).toBe(kind);
  });
});

describe('kindOfBytes', () => {
  it.each([
    ['%PDF-1.7\n', 'pdf'],
    ['\x89PNG\r\n', 'image'],
    ['GIF89a', 'image'],
    ['  <!-- x --> <!DOCTYPE html><p>', 'html'],
    ['<p>hello', 'html'],
    ['{"a":1}', 'text'],
    ['plain words < 3', 'text'],
    ['PK\x03\x04', 'binary'],
    ['\xff\xfe<\0h\0t\0m\0l\0>\0', 'html'],
  ])('tells %j', (text, kind) => {
    expect(kindOfBytes(Buffer.from(text, 'latin1'))).toBe(kind);
  });
});
