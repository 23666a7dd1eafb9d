import type { Readable } from 'node:stream';
import { GantryError } from '../kernel/errors.ts';

/**
 * The body as a web stream that ends the download when more than `maxBytes` came: the bytes up to the limit are delivered, then
 * the stream fails with `response_too_large`. Nothing is read ahead of the reader.
 *
 * @param options `onEnd` runs once, when the body has ended, failed or been cancelled; `toError` words what reading throws.
 */
export const boundedBody = (
  source: Readable,
  options: { maxBytes: number; onEnd: () => void; toError: (thrown: unknown) => GantryError },
): ReadableStream<Uint8Array<ArrayBuffer>> => {
  const { maxBytes, onEnd, toError } = options;
  const pieces = source.iterator({ destroyOnReturn: false }) as AsyncIterator<Uint8Array<ArrayBuffer>>;
  let leftBytes = maxBytes;
  let overflowed = false;
  const stop = (): void => {
    source.destroy();
    onEnd();
  };
  // A download can fail before its reader begins, or because its reader stopped it; who reads is told by the iterator.
  source.on('error', () => {});
  return new ReadableStream(
    {
      pull: async (controller) => {
        if (overflowed) {
          controller.error(tooLarge(maxBytes));
          return;
        }
        try {
          const { done, value: piece } = await pieces.next();
          if (done) {
            onEnd();
            controller.close();
            return;
          }
          if (piece.byteLength <= leftBytes) {
            leftBytes -= piece.byteLength;
            controller.enqueue(piece);
            return;
          }
          overflowed = true;
          stop();
          if (leftBytes > 0) controller.enqueue(piece.subarray(0, leftBytes));
          else controller.error(tooLarge(maxBytes));
        } catch (thrown) {
          stop();
          controller.error(toError(thrown));
        }
      },
      cancel: stop,
    },
    { highWaterMark: 0 },
  );
};

/** Ends a download that nobody wants the rest of: the connection is closed unless all of it has come. */
export const endDownload = (source: Readable): void => {
  // A body that is ended early reports that as an error of its own, which says nothing new.
  source.on('error', () => {});
  source.destroy();
};

const tooLarge = (maxBytes: number): GantryError =>
  new GantryError('response_too_large', `The answer is larger than ${maxBytes} bytes; the download was stopped.`, {
    details: { maxBytes },
  });
