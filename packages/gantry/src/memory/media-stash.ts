import type { Clock, Timer } from '../kernel/clock.ts';
import { GantryError } from '../kernel/errors.ts';
import type { NewId } from '../kernel/ids.ts';
import { newId as randomId } from '../kernel/ids.ts';
import type { ContextMedia } from '../tool/outcome.ts';

/**
 * Bytes on their way from a tool to the model that is to see them, for media that are in no file. In the memory of one process: at most 16,
 * together at most 32 MiB, for five minutes; when there are more, the oldest leave.
 */
export interface MediaStash extends Disposable {
  /**
   * Keeps bytes; gives what a context item names them by.
   * @throws {GantryError} `limit_reached` when they alone are more than everything may be; `invalid_arguments` for what are no bytes.
   */
  put(bytes: Uint8Array, mediaType: string): StashedMedia;
  /** Removes and returns what is kept under a key; undefined when it has left, or never was there. */
  take(stashKey: string): Uint8Array | undefined;
}

/** Media of a stash, as a context item names them. */
export type StashedMedia = Extract<ContextMedia, { readonly stashKey: string }>;

const mostEntries = 16;
const mostBytes = 32 * 1024 * 1024;
const ttlMs = 5 * 60_000;

/** Makes an empty stash. */
export const createMediaStash = (options: {
  readonly clock: Clock;
  readonly newId?: NewId | undefined;
}): MediaStash => {
  const { clock, newId = randomId } = options;
  const kept = new Map<string, { readonly bytes: Uint8Array; readonly expiry: Timer }>();
  let size = 0;

  const take: MediaStash['take'] = (stashKey) => {
    const entry = kept.get(stashKey);
    if (!entry) return undefined;
    kept.delete(stashKey);
    entry.expiry.stop();
    size -= entry.bytes.byteLength;
    return entry.bytes;
  };

  return {
    put: (bytes, mediaType) => {
      // Code without types gives base64 too, and a size that is no number would make the limits those of nothing.
      if (!((bytes as unknown) instanceof Uint8Array) || typeof mediaType !== 'string')
        throw new GantryError(
          'invalid_arguments',
          'Media are put as bytes (a Uint8Array, such as a Buffer) and their type (such as "image/png"); decode base64 with Buffer.from(text, "base64").',
        );
      const { byteLength } = bytes;
      if (byteLength > mostBytes)
        throw new GantryError(
          'limit_reached',
          `The ${mediaType} has ${byteLength} bytes, and media on their way to a model may have ${mostBytes}; make it smaller, or write it to a file.`,
          { details: { limit: mostBytes, scope: 'media stash' } },
        );
      for (const oldest of kept.keys()) {
        if (kept.size < mostEntries && size + byteLength <= mostBytes) break;
        take(oldest);
      }
      const stashKey = newId();
      kept.set(stashKey, { bytes, expiry: clock.startTimer(ttlMs, () => void take(stashKey)) });
      size += byteLength;
      return { mediaType, stashKey };
    },
    take,
    [Symbol.dispose]: () => {
      for (const key of kept.keys()) take(key);
    },
  };
};
