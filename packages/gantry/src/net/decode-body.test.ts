import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { decodeBody } from './decode-body.ts';

const page = Buffer.from('<p>ok</p>');
const decode = async (body: Buffer, coding: string): Promise<string> =>
  String(await buffer(decodeBody(Readable.from([body], { objectMode: true }), coding)));

it.each([
  ['', page],
  ['identity', page],
  ['gzip', gzipSync(page)],
  ['X-GZip', gzipSync(page)],
  ['deflate', deflateSync(page)],
  ['br', brotliCompressSync(page)],
  ['gzip, gzip', gzipSync(gzipSync(page))],
  ['deflate, br', brotliCompressSync(deflateSync(page))],
  ['gzip', gzipSync(page).subarray(0, -8)],
])('unpacks "%s"', async (coding, body) => expect(await decode(body, coding)).toBe('<p>ok</p>'));

it('fails on a body that is not what it says, on unknown codings and on a third one', async () => {
  await expect(decode(page, 'gzip')).rejects.toThrow(/incorrect header/);
  await expect(decode(page, 'compress')).rejects.toThrow(/packed as "compress", which was not asked for/);
  await expect(decode(page, 'gzip, gzip, gzip')).rejects.toThrow(/packed 3 times; 2 is the most/);
});
