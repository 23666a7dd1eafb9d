import { GantryError } from '../../kernel/errors.ts';
import type { GuardedClient } from '../../net/guarded-client.ts';
import { readBody } from '../../net/read-body.ts';
import type { ContentType, MediaKind } from './media-type.ts';
import { kindOfBytes, kindOfType, parseContentType } from './media-type.ts';

/** A body as it came. */
export interface FetchedBody {
  /** Where it was found, after redirects. */
  readonly url: string;
  readonly statusCode: number;
  readonly type: string;
  readonly kind: Exclude<MediaKind, 'image' | 'binary'>;
  readonly charset: string | undefined;
  readonly bytes: Uint8Array;
  /** There was more than the limit; `bytes` is the beginning. */
  readonly truncated: boolean;
}

/** What one download may cost. */
export interface FetchLimits {
  /** The whole call with its redirects. */
  readonly timeoutMs: number;
  /** Bytes of a text after decompression. */
  readonly maxBytes: number;
  readonly maxRedirects: number;
}

/** How one body is asked for. */
export interface FetchBodyOptions {
  readonly userAgent: string;
  /** Ask for the size first and fetch nothing that is too large. */
  readonly sizeFirst?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Fetches what a URL holds, as far as it can be read. */
export type FetchBody = (url: string, options: FetchBodyOptions) => Promise<FetchedBody>;

/** A PDF is of no use without its end, so it may be larger than what is cut. */
const maxPdfBytes = 20 * 1024 * 1024;
const sizeTimeoutMs = 5_000;
const accept = 'text/html,application/xhtml+xml,text/markdown,text/plain;q=0.9,application/json;q=0.9,*/*;q=0.5';

/**
 * Makes a fetcher over a guarded client.
 *
 * @throws {GantryError} (from the fetcher) `execution_failed` with `details.status` for an HTTP error, for images and for what is no
 * text; `response_too_large`; and what the client throws.
 */
export const createFetchBody = (client: Pick<GuardedClient, 'fetch' | 'check'>, limits: FetchLimits): FetchBody => {
  const maxBytesOf = (kind: MediaKind | undefined): number =>
    kind === 'pdf' ? Math.max(maxPdfBytes, limits.maxBytes) : limits.maxBytes;

  const checkSize = async (url: string, { userAgent, signal }: FetchBodyOptions): Promise<void> => {
    // A target that may not be fetched is not even asked for its size.
    await client.check(url, { signal });
    const head = await sizeOf(url, userAgent, signal);
    if (head && head.bytes > maxBytesOf(head.kind)) throw tooLarge(head.bytes, maxBytesOf(head.kind));
  };

  const sizeOf = async (url: string, userAgent: string, signal: AbortSignal | undefined) => {
    try {
      const response = await client.fetch(url, {
        method: 'HEAD',
        headers: { accept, 'user-agent': userAgent },
        signal,
        limits: { totalMs: sizeTimeoutMs, maxRedirects: limits.maxRedirects },
      });
      const length = Number(response.headers.get('content-length') ?? Number.NaN);
      if (!response.ok || response.headers.has('content-encoding') || !Number.isSafeInteger(length)) return undefined;
      return { bytes: length, kind: kindOfType(parseContentType(response.headers.get('content-type')).type) };
    } catch (error) {
      // Many servers refuse this question and still answer the real one; an address that is refused stays refused.
      if (signal?.aborted || (GantryError.is(error) && error.code === 'address_refused')) throw error;
      return undefined;
    }
  };

  return async (url, options) => {
    if (options.sizeFirst) await checkSize(url, options);
    const response = await client.fetch(url, {
      headers: { accept, 'accept-language': 'en-US,en;q=0.9', 'user-agent': options.userAgent },
      signal: options.signal,
      limits: {
        headersMs: limits.timeoutMs,
        totalMs: limits.timeoutMs,
        maxRedirects: limits.maxRedirects,
        maxBytes: Math.max(maxPdfBytes, limits.maxBytes) + 1,
      },
    });
    if (!response.ok) {
      await response.body?.cancel();
      throw httpError(response);
    }
    const contentType = parseContentType(response.headers.get('content-type'));
    const declared = kindOfType(contentType.type);
    if (declared === 'image' || declared === 'binary') {
      await response.body?.cancel();
      throw unreadable(contentType.type, declared);
    }
    const { bytes, truncated } = await readBody(response, maxBytesOf(declared));
    const kind = declared ?? kindInBytes(contentType, bytes);
    if (kind === 'image' || kind === 'binary') throw unreadable(contentType.type, kind);
    if (kind === 'pdf' && truncated) throw tooLarge(undefined, maxBytesOf(kind));
    return {
      url: response.url,
      statusCode: response.status,
      type: contentType.type,
      kind,
      charset: contentType.charset,
      bytes,
      truncated,
    };
  };
};

// Markup that is served as plain text is meant to be read as it stands.
const kindInBytes = ({ type }: ContentType, bytes: Uint8Array): MediaKind => {
  const kind = kindOfBytes(bytes);
  return kind === 'html' && type === 'text/plain' ? 'text' : kind;
};

const httpError = (response: Response): GantryError => {
  const { status, statusText } = response;
  return new GantryError('execution_failed', `HTTP ${status}${statusText === '' ? '' : ` ${statusText}`}.`, {
    details: { status },
    retry: status === 429 || status >= 500 ? 'later' : 'never',
  });
};

const tooLarge = (bytes: number | undefined, maxBytes: number): GantryError =>
  new GantryError(
    'response_too_large',
    `The document${bytes === undefined ? '' : ` of ${bytes} bytes`} is larger than ${maxBytes} bytes, the most that is fetched; look for a smaller page with the same content.`,
    { details: { maxBytes } },
  );

const unreadable = (type: string, kind: 'image' | 'binary'): GantryError =>
  new GantryError(
    'execution_failed',
    kind === 'image'
      ? `This is an image (${type || 'no type given'}), which has no text to read; give its URL to a tool that looks at images, or to the user.`
      : `This is a binary file (${type || 'no type given'}), which has no text to read; download it with a script or give its URL to the user.`,
    { details: { type } },
  );
