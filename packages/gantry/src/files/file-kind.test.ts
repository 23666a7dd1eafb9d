import { describe, expect, it } from 'vitest';
import { fileKindOf, sampleBytes } from './file-kind.ts';

const hex = (text: string): Uint8Array => Buffer.from(text, 'hex');

describe('fileKindOf', () => {
  it.each([
    ['plain text', Buffer.from('a,b\r\n1,2\n'), 'utf-8'],
    ['nothing', Buffer.alloc(0), 'utf-8'],
    ['text with colours', Buffer.from('\u001b[31mred\u001b[0m'), 'utf-8'],
    [
      'UTF-8 whose last character is cut',
      Buffer.from('x'.repeat(sampleBytes - 1) + 'é').subarray(0, sampleBytes),
      'utf-8',
    ],
    ['UTF-16', hex('fffe61000a00'), 'utf-16le'],
    ['UTF-16, high byte first', hex('feff0061'), 'utf-16be'],
    ['Latin text', Buffer.from('caf\xe9 \x80 5', 'latin1'), 'windows-1252'],
  ])('takes %s as text', (_, sample, encoding) => expect(fileKindOf(sample)).toEqual({ kind: 'text', encoding }));

  it.each([
    ['89504e470d0a1a0a', 'image/png'],
    ['474946383961', 'image/gif'],
    ['255044462d312e37', 'application/pdf'],
    ['504b03040a', 'application/zip'],
    ['524946460000000057454250', 'image/webp'],
    ['000000186674797069736f6d', 'video/mp4'],
    ['6100620063', 'application/octet-stream'],
    ['ff01e902', 'application/octet-stream'],
  ])('takes %s as %s', (bytes, mime) => expect(fileKindOf(hex(bytes))).toEqual({ kind: 'binary', mime }));
});
