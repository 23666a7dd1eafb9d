import type { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { flattenText } from '../text/flatten.ts';
import { GantryError } from '../kernel/errors.ts';

/** The content codings that {@link decodeBody} undoes, as a value of `Accept-Encoding`. */
export const acceptedEncodings = 'gzip, deflate, br';

/**
 * Undoes the content codings of a body while it streams. Ending the result early ends the download.
 *
 * @throws {GantryError} `execution_failed` for a coding that was not asked for, and for more than two: a few hundred bytes packed
 * three times unpack to gigabytes.
 */
export const decodeBody = (body: Readable, contentEncoding: string): Readable => {
  const codings = contentEncoding
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim())
    .filter((coding) => !notCodings.has(coding));
  if (codings.length === 0) return body;
  if (codings.length > maxCodings)
    throw new GantryError(
      'execution_failed',
      `The answer is packed ${codings.length} times; ${maxCodings} is the most.`,
    );
  const decoders = codings.reverse().map(decoderOf);
  // Whoever reads the last stream gets the error; the callback is only there because pipeline wants one.
  return pipeline([body, ...decoders], () => {}) as unknown as Readable;
};

const maxCodings = 2;

// "identity" is the standard's word; the other two are what servers write who mean it.
const notCodings: ReadonlySet<string> = new Set(['', 'identity', 'none', 'utf-8']);

// Each piece is passed on as it comes, for event streams, and a missing trailer is forgiven, as browsers do.
const zlibFlush = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH };
const brotliFlush = { flush: constants.BROTLI_OPERATION_FLUSH, finishFlush: constants.BROTLI_OPERATION_FLUSH };

const decoderOf = (coding: string): Transform => {
  switch (coding) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip(zlibFlush);
    case 'deflate':
      return createInflate(zlibFlush);
    case 'br':
      return createBrotliDecompress(brotliFlush);
    default:
      throw new GantryError(
        'execution_failed',
        `The answer is packed as "${flattenText(coding, { maxChars: 40 })}", which was not asked for (${acceptedEncodings}).`,
      );
  }
};
