import { GantryError } from '../kernel/errors.ts';
import type { MediaStash } from '../memory/media-stash.ts';
import type { ContextMedia } from '../tool/outcome.ts';
import type { FileVolume } from '../volume/volume.ts';
import { imageFormatOf } from '../web/search/image-format.ts';

/**
 * Reads the bytes of what a context item names.
 * @throws {GantryError} when they are gone, more than `maxBytes`, or no picture of the type that the item says.
 */
export type ReadMedia = (media: ContextMedia, options: { readonly maxBytes: number }) => Promise<Uint8Array>;

/** The most bytes of media in the context of one turn: as base64 they fit into the requests that providers take. */
export const mostTurnBytes: number = 14 * 1024 * 1024;

/** Makes the reader of this process. */
export const createReadMedia = (from: {
  readonly volume: Pick<FileVolume, 'openFile'>;
  readonly stash: Pick<MediaStash, 'take'>;
}): ReadMedia => {
  const fromFile = async (path: string, maxBytes: number): Promise<Uint8Array> => {
    await using file = await from.volume.openFile(path);
    const { size } = await file.stat();
    refuseLarger(size, maxBytes);
    return file.readFile();
  };
  const fromStash = (stashKey: string): Uint8Array => {
    const bytes = from.stash.take(stashKey);
    if (bytes) return bytes;
    throw new GantryError('execution_failed', 'it is no longer there; call the tool again in a later turn');
  };

  return async (media, { maxBytes }) => {
    const bytes = 'path' in media ? await fromFile(media.path, maxBytes) : fromStash(media.stashKey);
    // A file may have grown since.
    refuseLarger(bytes.byteLength, maxBytes);
    const { mediaType } = media;
    checkPicture(bytes, mediaType);
    return bytes;
  };
};

/** Of as many bytes it can be told what picture a file holds. */
export const pictureSampleBytes = 16;

/**
 * Checks that bytes begin as a picture of this type does: providers refuse the whole request for one that is called by another's name.
 * @throws {GantryError} `invalid_arguments`
 */
export const checkPicture = (bytes: Uint8Array, mediaType: string, subject = 'it'): void => {
  const found = imageFormatOf(bytes)?.mime;
  if (found === mediaType) return;
  throw new GantryError(
    'invalid_arguments',
    found === undefined
      ? `${subject} holds no picture that models take, although it is called ${mediaType}; they take png, jpeg, gif and webp`
      : `${subject} is called ${mediaType} and holds ${found}; give it the name of what it holds`,
  );
};

const refuseLarger = (size: number, maxBytes: number): void => {
  if (size > maxBytes)
    throw new GantryError('invalid_arguments', `it has ${size} bytes, and there is room for ${maxBytes} in this turn`);
};
