import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { MediaStash } from '../memory/media-stash.ts';
import { createMediaStash } from '../memory/media-stash.ts';
import { fakeClock } from '../testing/fake-clock.ts';
import { createVolume } from '../volume/volume.ts';
import type { ReadMedia } from './read-media.ts';
import { createReadMedia } from './read-media.ts';

const png = Buffer.from('89504e470d0a1a0a', 'hex');
const mediaType = 'image/png';
let folder: string;
let stash: MediaStash;
let read: ReadMedia;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-media-'));
  stash = createMediaStash({ clock: fakeClock() });
  read = createReadMedia({ volume: createVolume(folder), stash });
  await writeFile(join(folder, 'a.png'), png);
});
afterEach(() => rm(folder, { recursive: true }));

it('reads what an item names, in the shared folder or the stash', async () => {
  expect(await read({ path: 'a.png', mediaType }, { maxBytes: 8 })).toEqual(png);
  expect(await read(stash.put(png, mediaType), { maxBytes: 8 })).toEqual(png);
});

it('refuses what is larger than there is room for', async () => {
  for (const media of [{ path: 'a.png', mediaType }, stash.put(png, mediaType)])
    await expect(read(media, { maxBytes: 7 })).rejects.toThrow('8 bytes, and there is room for 7');
});

it.each([
  ['of another type', 'image/jpeg', 'is called image/jpeg and holds image/png'],
  ['that is none', 'audio/ogg', 'is called audio/ogg and holds image/png'],
])('refuses a picture %s', async (_what, called, problem) => {
  await expect(read(stash.put(png, called), { maxBytes: 8 })).rejects.toThrow(problem);
});

it('refuses what lies outside of the folder, and what was taken already', async () => {
  await expect(read({ path: '../a.png', mediaType }, { maxBytes: 8 })).rejects.toThrow('contains ".."');
  const media = stash.put(png, mediaType);
  await read(media, { maxBytes: 8 });
  await expect(read(media, { maxBytes: 8 })).rejects.toThrow('no longer there');
});
