/** Gives the next piece of a stream; undefined when it has ended. */
export type NextPiece = () => Promise<Uint8Array | undefined>;

/**
 * A stream of what `next` gives, piece by piece as it is wanted; undefined ends it. `held` is let go of when it has ended, failed or was
 * cancelled; then `source`, of which `next` reads, is cancelled with it, and `onCancel` called first.
 */
export const heldStream = (
  source: ReadableStreamDefaultReader<Uint8Array>,
  next: NextPiece,
  held: Disposable,
  onCancel?: () => void,
): ReadableStream<Uint8Array> =>
  new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const piece = await next();
        if (piece) {
          controller.enqueue(piece);
          return;
        }
        held[Symbol.dispose]();
        controller.close();
      } catch (error) {
        held[Symbol.dispose]();
        // Of a stream that was cancelled nobody hears it.
        controller.error(error);
      }
    },
    cancel: async (reason) => {
      onCancel?.();
      held[Symbol.dispose]();
      // It may have failed already, of which nobody needs to hear any more.
      await source.cancel(reason).catch(() => undefined);
    },
  });

/** The response as it is, or with other pieces, whose stream lets go of `held` when it has ended. */
export const heldResponse = (
  response: Response,
  held: Disposable,
  pieces: (next: NextPiece) => NextPiece = (next) => next,
): Response => {
  const reader = response.body?.getReader();
  if (!reader) {
    held[Symbol.dispose]();
    return response;
  }
  const next = pieces(async () => (await reader.read()).value);
  return new Response(heldStream(reader, next, held), response);
};

/** The pieces of a stream, by a reader that stays with whoever may have to cancel it. */
export async function* piecesOf(reader: ReadableStreamDefaultReader<Uint8Array>): AsyncGenerator<Uint8Array> {
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) yield piece.value;
}
