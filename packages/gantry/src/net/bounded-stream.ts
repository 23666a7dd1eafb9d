import { GantryError } from '../kernel/errors.ts';

/**
 * What `source` gives, read at once whether or not anybody wants it: for a source that writes without looking whether it is read. When more
 * comes while `mostWaitingBytes` wait for a reader, the stream fails, so that what waits is dropped, and `source` is cancelled. One piece
 * may be larger.
 */
export const boundedStream = (
  source: ReadableStream<Uint8Array>,
  mostWaitingBytes: number,
): ReadableStream<Uint8Array> => {
  const reader = source.getReader();
  const pump = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    try {
      for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
        if ((controller.desiredSize ?? 0) <= 0) throw notRead(mostWaitingBytes);
        controller.enqueue(piece.value);
      }
      controller.close();
    } catch (error) {
      // Of a stream that was cancelled nobody hears it.
      controller.error(error);
      await reader.cancel(error).catch(() => undefined);
    }
  };
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => void pump(controller),
      cancel: (reason) => reader.cancel(reason),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: mostWaitingBytes }),
  );
};

const notRead = (limit: number): GantryError =>
  new GantryError(
    'limit_reached',
    `The client does not read a stream of which ${limit} bytes wait; it is broken off.`,
    {
      details: { limit, scope: 'stream' },
    },
  );
