import type { ServerResponse } from 'node:http';
import { GantryError, messageOf } from '../kernel/errors.ts';
import type { Log } from '../kernel/log.ts';

/**
 * The response, whose stream of events, when it fails, breaks the connection off: an end would look as if all had been said. Without it
 * the adapter writes the error with its stack to the console and its message to the client. Anything else is given back as it is.
 */
export const breakingOff = (
  response: Response,
  outgoing: Pick<ServerResponse, 'destroy' | 'destroyed'>,
  log: Log,
): Response => {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return response;
  const source = response.body?.getReader();
  if (!source) return response;
  const breakOff = (error: unknown): void => {
    // What is known to happen is everyday news, as is anything behind a client that has gone.
    const isEveryday = outgoing.destroyed || GantryError.is(error);
    if (isEveryday) log.debug({ reason: messageOf(error) }, 'a stream broke off');
    else log.warn({ err: error }, 'a stream broke off unexpectedly');
    // The adapter cancels this stream when the connection has closed.
    outgoing.destroy();
  };
  // While a client does not read, nobody reads on here who would find out.
  source.closed.catch(breakOff);
  const body = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const piece = await source.read().catch(() => undefined);
        if (piece?.value) controller.enqueue(piece.value);
        else if (piece) controller.close();
      },
      cancel: (reason) => source.cancel(reason).catch(() => undefined),
    },
    { highWaterMark: 0 },
  );
  return new Response(body, response);
};
