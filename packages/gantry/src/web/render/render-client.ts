import * as z from 'zod';
import { GantryError } from '../../kernel/errors.ts';
import { isObject, parseJson } from '../../kernel/json.ts';
import type { GuardedFetch } from '../../net/guarded-client.ts';
import { readBody } from '../../net/read-body.ts';
import { flattenText } from '../../text/flatten.ts';
import type { RenderPage } from '../read/render-page.ts';

const answerSchema = z.object({ url: z.url(), status: z.int(), title: z.string(), html: z.string() });
const maxBytes = 32 * 1024 * 1024;
/** What the way to the service and back may take beside the rendering. */
const wayMs = 5000;

/**
 * Renders pages in a render service (`gantry serve --role browser`).
 *
 * @param options `fetch` may reach the service's address, which an operator named; `timeoutMs` is the time a page gets.
 * @throws {GantryError} (from the function) what the client throws, and `execution_failed` with the service's own reason for any answer but 200.
 */
export const renderOverHttp = (options: {
  readonly baseUrl: string;
  readonly fetch: GuardedFetch;
  readonly timeoutMs: number;
  readonly token?: string | undefined;
}): RenderPage => {
  const { baseUrl, fetch, timeoutMs, token } = options;
  const endpoint = `${baseUrl.replace(/\/+$/, '')}/render`;
  const headers = {
    'content-type': 'application/json',
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
  return async (url, { signal }) => {
    const totalMs = timeoutMs + wayMs;
    const response = await fetch(endpoint, {
      method: 'POST',
      headers,
      body: JSON.stringify({ url, timeoutMs }),
      redirect: 'error',
      signal,
      limits: { headersMs: totalMs, idleMs: totalMs, totalMs, maxBytes },
    });
    const { bytes } = await readBody(response, maxBytes);
    const parsed = parseJson(Buffer.from(bytes).toString());
    const value = parsed.ok ? parsed.value : undefined;
    const answer = answerSchema.safeParse(value);
    if (response.status === 200 && answer.success) return answer.data;
    throw new GantryError(
      'execution_failed',
      `The render service answered HTTP ${response.status}${reasonOf(value)}.`,
      {
        details: { status: response.status },
      },
    );
  };
};

const reasonOf = (value: unknown): string => {
  const message = isObject(value) && isObject(value['error']) ? value['error']['message'] : undefined;
  return typeof message === 'string' ? `: ${flattenText(message).slice(0, 500).replace(/\.$/, '')}` : '';
};
