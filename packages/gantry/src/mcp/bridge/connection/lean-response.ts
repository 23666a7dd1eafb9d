import type { Dispatcher } from 'undici';
import { checkAnswer } from './answer-check.ts';
import type { ResponseLimit } from './response-limit.ts';
import { limitEvents, readLimited } from './response-limit.ts';

/**
 * As much of a `Response` as transports use, over an answer of undici's request API, which costs a third of what its fetch does. The body
 * is limited: as a whole for `text()` and `json()`, by event for `body`. Read one of them, once.
 */
export const toLeanResponse = (
  url: string,
  { statusCode, statusText, headers, body }: Dispatcher.ResponseData,
  options: { limit: ResponseLimit; requestBody: unknown },
): Response => {
  const text = (): Promise<string> => readLimited(body, options.limit);
  const lean: LeanResponse = {
    ok: statusCode >= 200 && statusCode < 300,
    status: statusCode,
    statusText,
    url,
    type: 'default',
    redirected: false,
    headers: toHeaders(headers),
    get body() {
      return ReadableStream.from(limitEvents(body, options.limit, options.requestBody)) as Response['body'];
    },
    text,
    json: async () => checkAnswer(JSON.parse(await text()), options.requestBody, options.limit.server),
  };
  return lean as Response;
};

type LeanResponse = Pick<
  Response,
  'ok' | 'status' | 'statusText' | 'url' | 'type' | 'redirected' | 'headers' | 'body' | 'text' | 'json'
>;

/** The headers of an answer. */
export const toHeaders = (given: Dispatcher.ResponseData['headers']): Headers => {
  const headers = new Headers();
  for (const [name, value] of Object.entries(given)) {
    if (typeof value === 'string') headers.set(name, value);
    else for (const one of value ?? []) headers.append(name, one);
  }
  return headers;
};
