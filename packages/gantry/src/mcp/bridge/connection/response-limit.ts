import { GantryError } from '../../../kernel/errors.ts';
import { requestIdOf } from './answer-check.ts';
import { toLostAnswer } from './lost-answer.ts';

/** The largest answer accepted from a server. */
export interface ResponseLimit {
  readonly maxBytes: number;
  readonly server: string;
}

/** The error of an answer that is larger than accepted. */
export const responseTooLarge = ({ server, maxBytes }: ResponseLimit): GantryError =>
  new GantryError(
    'response_too_large',
    `Server "${server}" answered with more than ${maxBytes} bytes (maxResponseBytes); ask it for less, or in parts.`,
    { details: { server, maxBytes } },
  );

/**
 * The whole body as text.
 * @throws {GantryError} `response_too_large`, as soon as that is certain; the rest is not read.
 */
export const readLimited = async (body: AsyncIterable<Buffer>, limit: ResponseLimit): Promise<string> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > limit.maxBytes) throw responseTooLarge(limit);
    chunks.push(chunk);
  }
  const [only] = chunks;
  return (chunks.length === 1 && only ? only : Buffer.concat(chunks, bytes)).toString('utf8');
};

/**
 * The events of a stream, each limited for itself, since a stream may live long. In the place of an event that is too large comes a
 * JSON-RPC error to the request of the stream, which ends that call and nothing else; without a request the stream fails.
 */
export async function* limitEvents(
  body: AsyncIterable<Buffer>,
  limit: ResponseLimit,
  requestBody: unknown,
): AsyncGenerator<Buffer> {
  let bytes = 0;
  let endedWithNewline = false;
  for await (const chunk of body) {
    const boundary = Math.max(chunk.lastIndexOf('\n\n'), chunk.lastIndexOf('\n\r\n'));
    if (boundary !== -1) bytes = chunk.length - boundary;
    else bytes = endedWithNewline && chunk[0] === 10 ? chunk.length : bytes + chunk.length;
    endedWithNewline = chunk.at(-1) === 10;
    if (bytes > limit.maxBytes) {
      yield substitute(requestBody, responseTooLarge(limit));
      return;
    }
    yield chunk;
  }
}

/** An event that answers the request with the error, after ending the event that has begun. */
const substitute = (requestBody: unknown, error: GantryError): Buffer => {
  const id = requestIdOf(requestBody);
  if (id === undefined) throw error;
  return Buffer.from(`\n\nevent: message\ndata: ${JSON.stringify(toLostAnswer(id, error))}\n\n`);
};
