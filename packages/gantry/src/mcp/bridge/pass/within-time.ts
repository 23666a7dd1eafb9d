import type { Clock, Timer } from '../../../kernel/clock.ts';
import { GantryError } from '../../../kernel/errors.ts';
import { requestIdOf } from '../connection/answer-check.ts';
import { toLostAnswer } from '../connection/lost-answer.ts';

/** The time of a request that is passed on to a server. */
export interface PassTime {
  readonly server: string;
  /** The longest silence: until the answer begins, and between two messages of it. */
  readonly timeoutMs: number;
  /** The longest it may take altogether. */
  readonly maxTimeoutMs: number;
  readonly clock: Clock;
  readonly requestBody: string | undefined;
  /** Ends it for another reason. */
  readonly signal: AbortSignal;
}

// What a server asks in the middle of a request is for a person to answer, or for a model.
const question = /elicitation|sampling|roots/;

/**
 * Sends a request and bounds the time of its answer. Lines that only keep a stream open are silence too. When the time is up, an answer that
 * has not begun fails with `timeout`, and in a stream the client gets a JSON-RPC error for its request.
 */
export const withinTime = async (
  send: (signal: AbortSignal) => Promise<Response>,
  { server, timeoutMs, maxTimeoutMs, clock, requestBody, signal }: PassTime,
): Promise<Response> => {
  const ending = new AbortController();
  const startedMs = clock.elapsedMs();
  let expired: GantryError | undefined;
  let timer: Timer | undefined;
  const arm = (silenceMs: number): void => {
    timer?.stop();
    const limitMs = Math.min(silenceMs, maxTimeoutMs - (clock.elapsedMs() - startedMs));
    timer = clock.startTimer(Math.max(0, limitMs), () => {
      expired = new GantryError(
        'timeout',
        `Server "${server}" gave no answer within ${Math.round(silenceMs)} ms; whether the request was carried out is unknown.`,
        { details: { name: server, timeoutMs: silenceMs }, retry: 'never' },
      );
      ending.abort(expired);
    });
  };
  const onAbort = (): void => ending.abort(signal.reason);
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  const stop = (): void => {
    timer?.stop();
    signal.removeEventListener('abort', onAbort);
  };
  const orExpired = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      stop();
      throw expired ?? error;
    }
  };

  arm(timeoutMs);
  const response = await orExpired(send(ending.signal));
  const { ok, status, statusText, url, headers } = response;
  // Nothing follows what is only acknowledged.
  if (status === 202) stop();

  async function* timed(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of body) {
        const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
        if (text.includes('data')) arm(question.test(text.toString('latin1')) ? maxTimeoutMs : timeoutMs);
        yield chunk;
      }
    } catch (error) {
      const id = expired && requestIdOf(requestBody);
      if (!expired || id === undefined) throw expired ?? error;
      yield Buffer.from(`\n\nevent: message\ndata: ${JSON.stringify(toLostAnswer(id, expired))}\n\n`);
    } finally {
      stop();
    }
  }
  const within = {
    ok,
    status,
    statusText,
    url,
    type: response.type,
    redirected: false,
    headers,
    get body() {
      const { body } = response;
      if (!body) stop();
      return body && (lazily(timed(body), body, stop) as Response['body']);
    },
    text: async () => {
      const text = await orExpired(response.text());
      stop();
      return text;
    },
  } satisfies Partial<Response>;
  return within as Response;
};

/** The chunks as a stream. One that is cancelled before anybody read from it ends what it would have come from, which a generator does not. */
const lazily = (
  chunks: AsyncGenerator<Uint8Array>,
  source: ReadableStream<Uint8Array>,
  stop: () => void,
): ReadableStream<Uint8Array> => {
  let hasBegun = false;
  return new ReadableStream(
    {
      pull: async (controller) => {
        hasBegun = true;
        const next = await chunks.next();
        if (next.done) controller.close();
        else controller.enqueue(next.value);
      },
      cancel: async () => {
        stop();
        await (hasBegun ? chunks.return(undefined) : source.cancel());
      },
    },
    { highWaterMark: 0 },
  );
};
