import type { Readable } from 'node:stream';
import { PassThrough } from 'node:stream';
import { createLineReader, idOfOverlong } from '../wire/json-lines.ts';

/** The messages of a client that are short enough to be read. */
export interface LimitedLines {
  readonly lines: Readable;
  /** Stops reading the input, so that it does not keep the process running. */
  stop(): void;
}

/** The longest message taken over standard input. */
export const maxLineBytes: number = 10 * 1024 * 1024;

/**
 * Takes messages, one a line, out of a stream, and leaves out those that are too long, where the transport of the SDK would end the
 * connection without a word.
 *
 * @param onOverlong told the id of the request that was left out, where it could be read.
 */
export const limitLines = (
  input: Readable,
  maxBytes: number,
  onOverlong: (id: string | number | undefined) => void,
): LimitedLines => {
  const lines = new PassThrough();
  const read = createLineReader(maxBytes, {
    line: (text) => void lines.write(`${text}\n`),
    overlong: (line) => onOverlong(idOfOverlong(line)),
  });
  const end = (): void => void lines.end();
  const fail = (error: Error): void => void lines.destroy(error);
  if (input.readableEnded || input.destroyed) end();
  input.on('data', read).on('end', end).on('close', end).on('error', fail);
  return {
    lines,
    stop: () => {
      input.off('data', read).off('end', end).off('close', end).off('error', fail);
      if (input.listenerCount('data') === 0) input.pause();
    },
  };
};

/** What is said about a message that was left out. */
export const overlongText = (maxBytes: number): string =>
  `A message over standard input may have ${maxBytes} bytes at most; this one was not read. Send less, or a file as a path.`;
