import type { Dispatcher } from 'undici';
import type { Deadline } from '../kernel/abort.ts';
import { GantryError } from '../kernel/errors.ts';
import { boundedBody, endDownload } from './bounded-body.ts';
import { decodeBody } from './decode-body.ts';
import { toFetchError } from './fetch-error.ts';
import type { Hop } from './hop.ts';

/** An answer without its body, as {@link toResponse} takes it over. */
export interface AnsweredHop {
  readonly hop: Hop;
  readonly answer: Dispatcher.ResponseData;
  readonly redirected: boolean;
}

/**
 * The answer as a `Response` of the fetch standard: `url` is where the page was found, the body is unpacked and bounded. The deadline
 * is over when the body is.
 */
export const toResponse = (
  { hop, answer, redirected }: AnsweredHop,
  options: { maxBytes: number; deadline: Deadline },
): Response => {
  const { maxBytes, deadline } = options;
  const { host, url } = hop.target;
  const { statusCode: status, statusText } = answer;
  if (status < 200 || status > 599)
    throw new GantryError('execution_failed', `"${host}" answered with HTTP status ${status}, which means nothing.`);
  const headers = toHeaders(answer.headers);
  const empty = hop.method === 'HEAD' || status === 204 || status === 205 || status === 304;
  const body = empty
    ? null
    : boundedBody(decodeBody(answer.body, headers.get('content-encoding') ?? ''), {
        maxBytes,
        onEnd: () => deadline[Symbol.dispose](),
        toError: (thrown) => toFetchError(thrown, host, deadline.signal),
      });
  if (empty) {
    endDownload(answer.body);
    deadline[Symbol.dispose]();
  }
  const response = new Response(body, { status, statusText: printable(statusText), headers });
  // The constructor has no way to say where a response came from.
  Object.defineProperties(response, { url: { value: url.href }, redirected: { value: redirected } });
  return response;
};

const toHeaders = (raw: Dispatcher.ResponseData['headers']): Headers => {
  const headers = new Headers();
  for (const [name, value] of Object.entries(raw)) {
    if (typeof value === 'string') headers.append(name, value);
    else for (const one of value ?? []) headers.append(name, one);
  }
  return headers;
};

// The constructor throws on a reason phrase with control characters, which servers do send.
const printable = (statusText: string): string => statusText.replaceAll(/[^\t\u0020-\u007e\u0080-\u00ff]/g, '');
