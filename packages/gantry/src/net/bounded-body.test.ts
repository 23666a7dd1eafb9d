import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { GantryError } from '../kernel/errors.ts';
import { boundedBody } from './bounded-body.ts';
import { readBody } from './read-body.ts';

const open = (source: Readable, maxBytes: number) => {
  const ends: string[] = [];
  const body = boundedBody(source, {
    maxBytes,
    onEnd: () => ends.push('end'),
    toError: () => new GantryError('execution_failed', 'worded'),
  });
  return { response: new Response(body), ends };
};
const pieces = (...texts: string[]): Readable =>
  Readable.from(
    texts.map((text) => Buffer.from(text)),
    { objectMode: true },
  );
const endless = (): Readable =>
  new Readable({
    read() {
      this.push(Buffer.alloc(1024, 'x'));
    },
  });

it('hands a body through that fits exactly', async () => {
  const { response, ends } = open(pieces('abc', 'de'), 5);
  expect(await response.text()).toBe('abcde');
  expect(ends).toEqual(['end']);
});

it('fails past the limit and ends an endless download', async () => {
  const source = endless();
  const { response, ends } = open(source, 10_000);
  await expect(response.text()).rejects.toMatchObject({ code: 'response_too_large', details: { maxBytes: 10_000 } });
  expect([source.destroyed, ends]).toEqual([true, ['end']]);
});

it('delivers the bytes up to the limit before it fails', async () => {
  const reader = open(pieces('abcdef'), 4).response.body?.getReader();
  expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('abcd');
  await expect(reader?.read()).rejects.toMatchObject({ code: 'response_too_large' });
});

it('ends the download when the reader leaves, before its first byte too', async () => {
  const source = endless();
  const { response, ends } = open(source, 10_000);
  await response.body?.cancel();
  expect([source.destroyed, ends]).toEqual([true, ['end']]);
});

it('words what reading throws, also when it broke before it was read', async () => {
  const source = new Readable({ read() {} });
  const { response } = open(source, 10);
  source.destroy(new Error('reset'));
  await expect(response.text()).rejects.toMatchObject({ message: 'worded' });
});

it('readBody gives the beginning of a larger body and says so', async () => {
  const source = endless();
  const { bytes, truncated } = await readBody(open(source, Infinity).response, 1_500);
  expect([bytes.byteLength, truncated, source.destroyed]).toEqual([1_500, true, true]);
  expect(await readBody(open(pieces('abc'), 10).response, 3)).toMatchObject({ truncated: false });
  expect(await readBody(new Response(null), 3)).toEqual({ bytes: new Uint8Array(0), truncated: false });
});
