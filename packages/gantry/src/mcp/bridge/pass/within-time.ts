import type { Clock, Timer } from '../../../kernel/clock.ts';
import { GantryError } from '../../../kernel/errors.ts';
import { noAnswerWithin } from '../../wire/no-answer.ts';
import { requestIdOf } from '../connection/answer-check.ts';
import { toLostAnswer } from '../connection/lost-answer.ts';
import type { LostAnswer } from './not-passed-on.ts';

/** The time of a request that is passed on to a server. */
export interface PassTime {
  readonly server: string;
  /** The longest silence: until the answer begins, and between two messages of it. */
  readonly timeoutMs: number;
  /** The longest it may take altogether. */
  readonly maxTimeoutMs: number;
  readonly clock: Clock;
  readonly requestBody: string | undefined;
  /** Whether the client may take up a stream again: those of 2025 ask for the rest behind the last event that has an id. */
  readonly isResumable: boolean;
  /** Ends it for another reason. */
  readonly signal: AbortSignal;
  /** What is said of an answer that broke off behind its head, or cannot be unpacked. */
  readonly lostAnswer: (error: unknown) => LostAnswer;
}

// What a server asks in the middle of a request is for a person to answer, or for a model.
const question = /elicitation|sampling|roots/;

const eventId = /(?:^|[\r\n])id:/;

/**
 * Sends a request and bounds the time of its answer. Lines that only keep a stream open are silence too. When the time is up, or the answer
 * breaks off, one that is read as a whole fails with the reason, and in a stream the client gets a JSON-RPC error for its request; not where
 * it can take a stream up again whose connection broke.
 */
export const withinTime = async (
  send: (signal: AbortSignal) => Promise<Response>,
  { server, timeoutMs, maxTimeoutMs, clock, requestBody, isResumable, signal, lostAnswer }: PassTime,
): Promise<Response> => {
  const ending = new AbortController();
  const startedMs = clock.elapsedMs();
  let expired: GantryError | undefined;
  let timer: Timer | undefined;
  const arm = (silenceMs: number): void => {
    timer?.stop();
    const limitMs = Math.min(silenceMs, maxTimeoutMs - (clock.elapsedMs() - startedMs));
    timer = clock.startTimer(Math.max(0, limitMs), () => {
      expired = noAnswerWithin(server, silenceMs);
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

  arm(timeoutMs);
  let response: Response;
  try {
    response = await send(ending.signal);
  } catch (error) {
    stop();
    throw expired ?? error;
  }
  // Nothing follows what is only acknowledged.
  if (response.status === 202) stop();

  const reasonOf = (error: unknown): LostAnswer | undefined => {
    if (expired) return { error: expired, isBroken: false };
    return signal.aborted || GantryError.is(error) ? undefined : lostAnswer(error);
  };

  async function* timed(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    let hasId = false;
    try {
      for await (const chunk of body) {
        const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
        hasId ||= isResumable && text.includes('id:') && eventId.test(text.toString('latin1'));
        if (text.includes('data')) arm(question.test(text.toString('latin1')) ? maxTimeoutMs : timeoutMs);
        yield chunk;
      }
    } catch (error) {
      const lost = reasonOf(error);
      const id = lost && requestIdOf(requestBody);
      if (!lost || id === undefined || (lost.isBroken && hasId)) throw lost?.error ?? error;
      yield Buffer.from(`\n\nevent: message\ndata: ${JSON.stringify(toLostAnswer(id, lost.error))}\n\n`);
    } finally {
      stop();
    }
  }
  return new TimedResponse(response, {
    text: async () => {
      try {
        return await response.text();
      } catch (error) {
        throw reasonOf(error)?.error ?? error;
      } finally {
        stop();
      }
    },
    body: () => {
      const { body } = response;
      if (!body) stop();
      return body && lazily(timed(body), body, stop);
    },
  }) as unknown as Response;
};

// A class for the reason that LeanResponse is one.
class TimedResponse implements Pick<
  Response,
  'ok' | 'status' | 'statusText' | 'url' | 'type' | 'redirected' | 'headers' | 'body' | 'text'
> {
  readonly ok: boolean;
  readonly status: number;
  readonly statusText: string;
  readonly url: string;
  readonly type: Response['type'];
  readonly redirected: boolean;
  readonly headers: Headers;
  readonly text: () => Promise<string>;
  readonly #body: () => ReadableStream<Uint8Array> | null;

  constructor(
    { ok, status, statusText, url, type, redirected, headers }: Response,
    read: { readonly text: () => Promise<string>; readonly body: () => ReadableStream<Uint8Array> | null },
  ) {
    this.ok = ok;
    this.status = status;
    this.statusText = statusText;
    this.url = url;
    this.type = type;
    this.redirected = redirected;
    this.headers = headers;
    this.text = read.text;
    this.#body = read.body;
  }

  get body(): Response['body'] {
    return this.#body() as Response['body'];
  }
}

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
