import { orAborted } from '../../../kernel/abort.ts';
import { GantryError } from '../../../kernel/errors.ts';
import type { NextPiece } from '../../../net/held-stream.ts';
import { messageEvent } from '../../wire/sessions/event-texts.ts';

/** A request whose client waits for its answer, and is told when the gateway stops before. */
export interface Stoppable {
  readonly id: string | number;
  /** Aborts with the reason when the gateway has waited long enough for requests that run. */
  readonly stopping: AbortSignal;
  /** Gives the request up. */
  readonly abort: () => void;
}

/** Waits for the answer. @throws {GantryError} the reason of the stop. */
export const untilStopped = async (answering: Promise<Response>, { stopping, abort }: Stoppable): Promise<Response> => {
  try {
    return await orAborted(answering, stopping);
  } catch (error) {
    if (stopping.aborted) abort();
    throw error;
  }
};

/** The pieces of an answer that is a stream; a stop ends it with a JSON-RPC error for the request. */
export const piecesUntilStopped = (next: NextPiece, { id, stopping, abort }: Stoppable): NextPiece => {
  let isOver = false;
  return async () => {
    if (isOver) return undefined;
    try {
      return await orAborted(next(), stopping);
    } catch (error) {
      if (!stopping.aborted || !GantryError.is(error)) throw error;
      isOver = true;
      abort();
      const said = { jsonrpc: '2.0', id, error: { code: -32_603, message: error.message } };
      // The last piece may have ended in the middle of a line.
      return Buffer.from(`\n\n${messageEvent(JSON.stringify(said))}`);
    }
  };
};
