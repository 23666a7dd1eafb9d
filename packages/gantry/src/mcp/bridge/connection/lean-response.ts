import type { IncomingHttpHeaders } from 'node:http';
import { checkAnswer } from './answer-check.ts';
import type { HttpAnswer, HttpBody } from './http-answer.ts';
import type { ResponseLimit } from './response-limit.ts';
import { limitEvents } from './response-limit.ts';

/**
 * As much of a `Response` as transports use, over an answer of undici's dispatch API, which costs a fraction of what its fetch does. The body
 * is limited: as a whole for `text()` and `json()`, by event for `body`. Read one of them, once.
 */
export const toLeanResponse = (url: string, answer: HttpAnswer, options: ReadOptions): Response =>
  new LeanResponse(url, answer, options) as unknown as Response;

interface ReadOptions {
  readonly limit: ResponseLimit;
  readonly requestBody: unknown;
}

// A getter in an object literal would give each response a shape of its own, which V8 keeps, with all that the getter refers to, until it
// looks through the old generation: measured, a third of what calls allocate outlived them.
class LeanResponse implements Pick<
  Response,
  'ok' | 'status' | 'statusText' | 'url' | 'type' | 'redirected' | 'headers' | 'body' | 'text' | 'json'
> {
  readonly url: string;
  readonly ok: boolean;
  readonly status: number;
  readonly statusText: string;
  readonly headers: Headers;
  readonly #body: HttpBody;
  readonly #options: ReadOptions;

  constructor(url: string, answer: HttpAnswer, options: ReadOptions) {
    const { statusText, headers, body } = answer;
    // RFC 9110 section 15: what is no status is taken for an error of the server. No Response can be made with it either.
    const status = answer.status > 599 ? 500 : answer.status;
    this.url = url;
    this.ok = status >= 200 && status < 300;
    this.status = status;
    this.statusText = statusText;
    this.headers = new LeanHeaders(headers) as unknown as Headers;
    this.#body = body;
    this.#options = options;
  }

  get type(): Response['type'] {
    return 'default';
  }

  get redirected(): boolean {
    return false;
  }

  get body(): Response['body'] {
    if (bodiless.has(this.status)) {
      this.#body.abandon();
      return null;
    }
    return ReadableStream.from(limitedEvents(this.#body, this.#options)) as Response['body'];
  }

  text(): Promise<string> {
    return this.#body.text(this.#options.limit);
  }

  async json(): Promise<unknown> {
    const { requestBody, limit } = this.#options;
    return checkAnswer(JSON.parse(await this.text()), requestBody, limit.server);
  }
}

// Whatever their servers say of a type. Those who make a Response of this one would fail otherwise.
const bodiless: ReadonlySet<number> = new Set([204, 205, 304]);

/** Events of a stream that ends its download also when it is cancelled before anybody read from it, which a generator does not. */
const limitedEvents = (body: HttpBody, { limit, requestBody }: ReadOptions): AsyncIterableIterator<Buffer> => {
  const events = limitEvents(body, limit, requestBody);
  return {
    next: () => events.next(),
    return: async () => {
      body.abandon();
      return await events.return(undefined);
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
};

/** The headers of an answer. */
export const toHeaders = (given: IncomingHttpHeaders): Headers => {
  const headers = new Headers();
  for (const [name, value] of Object.entries(given)) {
    if (typeof value === 'string') headers.set(name, value);
    else for (const one of value ?? []) headers.append(name, one);
  }
  return headers;
};

/** The same, but made only for a reader who wants more of it than a header or two: making it costs as much as the rest of an answer. */
class LeanHeaders implements Pick<Headers, 'get' | 'has' | 'forEach' | 'keys' | 'values' | 'entries' | 'getSetCookie'> {
  readonly #given: IncomingHttpHeaders;
  #made: Headers | undefined;

  constructor(given: IncomingHttpHeaders) {
    this.#given = given;
  }

  get(name: string): string | null {
    const value = this.#given[name.toLowerCase()];
    if (value === undefined) return null;
    return typeof value === 'string' ? value : this.#all().get(name);
  }

  has(name: string): boolean {
    return this.#given[name.toLowerCase()] !== undefined;
  }

  forEach(each: Parameters<Headers['forEach']>[0]): void {
    this.#all().forEach(each);
  }

  keys(): ReturnType<Headers['keys']> {
    return this.#all().keys();
  }

  values(): ReturnType<Headers['values']> {
    return this.#all().values();
  }

  entries(): ReturnType<Headers['entries']> {
    return this.#all().entries();
  }

  getSetCookie(): string[] {
    return this.#all().getSetCookie();
  }

  [Symbol.iterator](): ReturnType<Headers['entries']> {
    return this.entries();
  }

  #all(): Headers {
    return (this.#made ??= toHeaders(this.#given));
  }
}
