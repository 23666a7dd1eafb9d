import { expect, it } from 'vitest';
import { fakeClock } from '../testing/fake-clock.ts';
import { createMediaStash } from './media-stash.ts';

const mib = 1024 * 1024;
const make = () => {
  const clock = fakeClock();
  return { clock, stash: createMediaStash({ clock }) };
};
const bytesOf = (text: string): Uint8Array => Buffer.from(text);

it('gives what was put into it once, under a key that says nothing', () => {
  const { stash } = make();
  const { stashKey, mediaType } = stash.put(bytesOf('a'), 'image/png');
  expect(mediaType).toBe('image/png');
  expect(stash.put(bytesOf('a'), 'image/png').stashKey).not.toBe(stashKey);
  expect(stash.take(stashKey)).toEqual(bytesOf('a'));
  expect(stash.take(stashKey)).toBeUndefined();
  expect(stash.take('of nobody')).toBeUndefined();
});

it('keeps it for five minutes', async () => {
  const { clock, stash } = make();
  const [first, second] = [stash.put(bytesOf('a'), 'image/png'), stash.put(bytesOf('b'), 'image/png')];
  await clock.advance(5 * 60_000 - 1);
  expect(stash.take(first.stashKey)).toBeDefined();
  await clock.advance(1);
  expect(stash.take(second.stashKey)).toBeUndefined();
});

it('keeps sixteen, without the oldest when there are more', () => {
  const { stash } = make();
  const keys = Array.from({ length: 18 }, (_, at) => stash.put(bytesOf(`${at}`), 'image/png').stashKey);
  expect(keys.map((key) => stash.take(key) !== undefined)).toEqual([false, false, ...Array(16).fill(true)]);
});

it('keeps 32 MiB, without the oldest when there would be more', () => {
  const { stash } = make();
  const put = (size: number) => stash.put(Buffer.alloc(size), 'image/png').stashKey;
  const keys = [put(16 * mib), put(15 * mib), put(mib), put(mib)];
  expect(keys.map((key) => stash.take(key) !== undefined)).toEqual([false, true, true, true]);
  // What was taken leaves its room to others.
  const whole = put(32 * mib);
  expect(stash.take(whole)).toHaveLength(32 * mib);
});

it('refuses what alone is more than that, and keeps the others', () => {
  const { stash } = make();
  const { stashKey } = stash.put(bytesOf('a'), 'image/png');
  expect(() => stash.put(Buffer.alloc(32 * mib + 1), 'image/png')).toThrow('33554433 bytes');
  expect(stash.take(stashKey)).toBeDefined();
});

it.each([['base64'], [new ArrayBuffer(8)], [{ byteLength: Number.NaN }], [undefined]])(
  'refuses %j, which is no bytes, and goes on as before',
  (given) => {
    const { stash } = make();
    const { stashKey } = stash.put(bytesOf('a'), 'image/png');
    expect(() => stash.put(given as unknown as Uint8Array, 'image/png')).toThrow('decode base64 with Buffer.from');
    stash.put(bytesOf('b'), 'image/png');
    expect(stash.take(stashKey)).toBeDefined();
  },
);

it('leaves nothing behind when it is closed', () => {
  const { clock, stash } = make();
  stash.put(bytesOf('a'), 'image/png');
  stash[Symbol.dispose]();
  expect(clock.pendingTimers).toBe(0);
});
