import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { decodeBody } from '../../../net/decode-body.ts';
import type { ResponseLimit } from './response-limit.ts';
import { readLimited, responseTooLarge } from './response-limit.ts';

/** The head of an answer, and its body as it comes. */
export interface HttpAnswer {
  readonly status: number;
  readonly statusText: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: HttpBody;
}

/** The body of an answer, for one reader. */
export interface HttpBody extends AsyncIterable<Buffer> {
  /**
   * All of it as text.
   * @throws {GantryError} `response_too_large`, as soon as that is certain; the rest is not read.
   */
  text(limit: ResponseLimit): Promise<string>;
  /** Ends a download that nobody wants the rest of. */
  abandon(): void;
}

// A server that writes faster than its answer is read waits from here on.
const mostWaitingBytes = 64 * 1024;

/**
 * Sends a request; resolves with the head of the answer. The signal ends the request, and the body as long as it comes.
 *
 * It stands on undici's `dispatch` because its `request` keeps everything that a call has made alive past the next collections: measured with
 * 8.13, a call through it cost half as much CPU again and the process grew by 50 MB.
 */
export const requestAnswer = (
  dispatcher: Dispatcher,
  options: Dispatcher.DispatchOptions,
  signal: AbortSignal | undefined,
): Promise<HttpAnswer> => {
  const request = new Request(signal);
  if (!signal?.aborted) dispatcher.dispatch(options, request);
  return request.answer.promise;
};

/** One request on its way and the body of its answer. A class, since every call makes one. */
class Request implements Dispatcher.DispatchHandler, HttpBody {
  readonly answer = Promise.withResolvers<HttpAnswer>();
  readonly #signal: AbortSignal | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  /** Set once all of the body is wanted as one text. */
  #limit: ResponseLimit | undefined;
  /** Set once nothing more will come. */
  #end: { readonly error?: unknown } | undefined;
  /** Whoever waits for more. */
  #reader: PromiseWithResolvers<void> | undefined;

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
    if (signal?.aborted) this.#fail(signal.reason);
    else signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  readonly #onAbort = (): void => this.#giveUp(this.#signal?.reason);

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#end) controller.abort(toError(this.#end.error));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
    statusText = '',
  ): void {
    if (status < 200) return;
    const coding = headers['content-encoding'];
    try {
      this.answer.resolve({ status, statusText, headers, body: coding === undefined ? this : decoded(this, coding) });
    } catch (error) {
      this.#giveUp(error);
    }
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#end) return;
    this.#waiting.push(chunk);
    this.#waitingBytes += chunk.length;
    if (this.#limit) {
      if (this.#waitingBytes > this.#limit.maxBytes) this.#giveUp(responseTooLarge(this.#limit));
      return;
    }
    this.#wake();
    if (this.#waitingBytes >= mostWaitingBytes) controller.pause();
  }

  onResponseEnd(): void {
    this.#settle({});
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: unknown): void {
    this.#fail(error);
  }

  async text(limit: ResponseLimit): Promise<string> {
    if (this.#waitingBytes > limit.maxBytes) {
      const error = responseTooLarge(limit);
      this.#giveUp(error);
      throw error;
    }
    this.#limit = limit;
    this.#controller?.resume();
    await this.#untilNews();
    if (this.#end && 'error' in this.#end) throw this.#end.error;
    const chunks = this.#take();
    const [only] = chunks;
    return (chunks.length === 1 && only ? only : Buffer.concat(chunks)).toString('utf8');
  }

  abandon(): void {
    this.#giveUp(new Error('The answer was not wanted any more.'));
  }

  [Symbol.asyncIterator](): AsyncIterator<Buffer> {
    return {
      next: async () => {
        if (this.#waiting.length === 0) await this.#untilNews();
        const chunk = this.#waiting.shift();
        if (chunk) {
          this.#waitingBytes -= chunk.length;
          if (this.#waitingBytes < mostWaitingBytes) this.#controller?.resume();
          return { done: false, value: chunk };
        }
        if (this.#end && 'error' in this.#end) throw this.#end.error;
        return { done: true, value: undefined };
      },
      return: async () => {
        this.abandon();
        return { done: true, value: undefined };
      },
    };
  }

  #untilNews(): Promise<void> | undefined {
    if (this.#end) return undefined;
    this.#reader = Promise.withResolvers();
    return this.#reader.promise;
  }

  #wake(): void {
    this.#reader?.resolve();
    this.#reader = undefined;
  }

  #take(): Buffer[] {
    const chunks = this.#waiting;
    this.#waiting = [];
    this.#waitingBytes = 0;
    return chunks;
  }

  #giveUp(error: unknown): void {
    if (this.#end) return;
    this.#take();
    this.#fail(error);
    this.#controller?.abort(toError(error));
  }

  #fail(error: unknown): void {
    if (this.#end) return;
    this.#settle({ error });
    this.answer.reject(error);
  }

  #settle(end: { readonly error?: unknown }): void {
    this.#end ??= end;
    this.#signal?.removeEventListener('abort', this.#onAbort);
    this.#wake();
  }
}

const toError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)));

/** A body that came packed. Servers do that unasked, too. */
const decoded = (packed: HttpBody, coding: string): HttpBody => {
  const body = decodeBody(Readable.from(packed), coding);
  return {
    text: (limit) => readLimited(body, limit),
    abandon: () => void body.destroy(),
    [Symbol.asyncIterator]: () => body[Symbol.asyncIterator]() as AsyncIterator<Buffer>,
  };
};
