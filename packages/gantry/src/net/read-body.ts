/** The beginning of a body, or all of it. */
export interface BodyBytes {
  readonly bytes: Uint8Array;
  /** True when there was more than was asked for. */
  readonly truncated: boolean;
}

/** Reads at most `maxBytes` of the body of a response or request and stops the download there, so a large page still yields its beginning. */
export const readBody = async (message: Pick<Response, 'body'>, maxBytes: number): Promise<BodyBytes> => {
  if (message.body === null) return { bytes: new Uint8Array(0), truncated: false };
  const pieces: Uint8Array[] = [];
  let length = 0;
  // Leaving the loop early cancels the stream, and with it the download.
  for await (const piece of message.body) {
    pieces.push(piece);
    length += piece.byteLength;
    if (length > maxBytes) break;
  }
  return { bytes: Buffer.concat(pieces, Math.min(length, maxBytes)), truncated: length > maxBytes };
};
