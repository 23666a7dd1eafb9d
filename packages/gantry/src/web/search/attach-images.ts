import { startDeadline, throwIfAborted } from '../../kernel/abort.ts';
import type { Clock } from '../../kernel/clock.ts';
import { messageOf } from '../../kernel/errors.ts';
import type { Log } from '../../kernel/log.ts';
import type { GuardedFetch } from '../../net/guarded-client.ts';
import { readBody } from '../../net/read-body.ts';
import type { Attachment } from '../../tool/outcome.ts';
import type { Volume } from '../../volume/volume.ts';
import { parseContentType } from '../read/media-type.ts';
import type { ImageFormat } from './image-format.ts';
import { imageFormatOf } from './image-format.ts';
import type { SearchHit } from './search-engine.ts';

/** A found image that now lies in the shared folder. */
export interface AttachedImage {
  readonly hit: SearchHit;
  readonly attachment: Attachment;
}

/** Fetches up to `wanted` of the images that were found, in their order, and keeps them where tools and surfaces find them. */
export type AttachImages = (
  hits: readonly SearchHit[],
  options: { readonly wanted: number; readonly signal?: AbortSignal | undefined },
) => Promise<readonly AttachedImage[]>;

/** Images with fewer bytes are icons and counting pixels. */
const leastBytes = 5_120;
/** What surfaces take; a larger one would have to be made smaller, and is left out. */
const mostBytes = 8 * 1024 * 1024;
const headMs = 2_000;
const headsMs = 3_000;
const downloadMs = 10_000;
const folder = 'images';

/**
 * Makes the function over a guarded client: the addresses come from whoever was found. Each image is asked for its kind and size
 * first; what is no image, too small or too large, or does not answer in time, is left out.
 */
export const createAttachImages = (options: {
  readonly fetch: GuardedFetch;
  readonly volume: Pick<Volume, 'saveNew'>;
  readonly clock: Clock;
  readonly log: Log;
}): AttachImages => {
  const { fetch, volume, clock, log } = options;

  const isUsable = async (url: string, signal: AbortSignal): Promise<boolean> => {
    try {
      const response = await fetch(url, { method: 'HEAD', signal, limits: { totalMs: headMs } });
      await response.body?.cancel();
      const { type } = parseContentType(response.headers.get('content-type'));
      const length = Number(response.headers.get('content-length') ?? Number.NaN);
      return response.ok && isPicture(type) && !(length < leastBytes || length > mostBytes);
    } catch {
      return false; // Many answers of an image search are gone; the next one is as good.
    }
  };

  /** Those whose answers came in time and said that they are what is wanted. */
  const usable = async (hits: readonly SearchHit[], signal: AbortSignal | undefined): Promise<SearchHit[]> => {
    using deadline = startDeadline(clock, headsMs, { signal });
    const answers = await Promise.all(hits.map((hit) => isUsable(hit.imageUrl ?? '', deadline.signal)));
    throwIfAborted(signal);
    return hits.filter((_hit, index) => answers[index]);
  };

  const download = async (hit: SearchHit, signal: AbortSignal | undefined): Promise<AttachedImage | undefined> => {
    const url = hit.imageUrl ?? '';
    try {
      const response = await fetch(url, { signal, limits: { totalMs: downloadMs, maxBytes: mostBytes + 1 } });
      const { bytes, truncated } = await readBody(response, mostBytes);
      const format = imageFormatOf(bytes);
      if (!response.ok || truncated || !format || bytes.byteLength < leastBytes) return undefined;
      const saved = await volume.saveNew(folder, nameOf(url, format), bytes);
      return { hit, attachment: { path: saved.path, name: saved.name, size: saved.size, mime: format.mime } };
    } catch (error) {
      throwIfAborted(signal);
      log.debug({ url, reason: messageOf(error) }, 'an image that was found could not be fetched');
      return undefined;
    }
  };

  return async (hits, { wanted, signal }) => {
    const candidates = await usable(distinct(hits), signal);
    const attached: AttachedImage[] = [];
    while (attached.length < wanted && candidates.length > 0) {
      const next = candidates.splice(0, wanted - attached.length);
      const images = await Promise.all(next.map((hit) => download(hit, signal)));
      attached.push(...images.filter((image) => image !== undefined));
    }
    return attached;
  };
};

// Neither surfaces nor models show these.
const isPicture = (type: string): boolean =>
  type.startsWith('image/') && type !== 'image/avif' && !type.startsWith('image/svg');

const distinct = (hits: readonly SearchHit[]): SearchHit[] => {
  const seen = new Set<string>();
  return hits.filter(({ imageUrl }) => {
    const url = imageUrl === undefined ? null : URL.parse(imageUrl);
    if (url === null || seen.has(url.href) || url.pathname.toLowerCase().endsWith('.avif')) return false;
    seen.add(url.href);
    return true;
  });
};

const nameOf = (url: string, { extension }: ImageFormat): string => {
  const last = URL.parse(url)?.pathname.split('/').at(-1) ?? '';
  const stem = last.replace(/\.[A-Za-z0-9]{1,5}$/, '').slice(0, 80);
  return `${stem === '' ? 'image' : stem}.${extension}`;
};
