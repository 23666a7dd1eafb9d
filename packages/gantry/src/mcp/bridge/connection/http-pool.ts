import type { FetchLike } from '@modelcontextprotocol/client';
import type { Dispatcher } from 'undici';
import { toLeanResponse } from './lean-response.ts';

/** The HTTP connections to all servers. Disposing closes them. */
export interface HttpPool extends AsyncDisposable {
  /** A fetch for one server: on pooled connections, with the size of every answer limited. It never follows a redirect by itself. */
  fetchFor(server: string): FetchLike;
}

/**
 * Makes the pool. Connections stay open between calls, and there is no limit to how many one server gets, so a stream that stays open
 * never holds up a call. Nothing here times out: budgets belong to calls.
 */
export const createHttpPool = (options: { maxResponseBytes: number }): HttpPool => {
  let loading: Promise<Dispatcher> | undefined;
  const load = async (): Promise<Dispatcher> => {
    const { Agent, interceptors } = await import('undici');
    const agent = new Agent({ keepAliveTimeout: 30_000, headersTimeout: 0, bodyTimeout: 0 });
    return agent.compose(interceptors.decompress({ skipErrorResponses: false }));
  };
  return {
    fetchFor: (server) => {
      const limit = { maxBytes: options.maxResponseBytes, server };
      return async (url, init) => {
        const dispatcher = await (loading ??= load());
        const { origin, pathname, search, href } = typeof url === 'string' ? new URL(url) : url;
        const requestBody = await textOf(init?.body);
        const answer = await dispatcher.request({
          origin,
          path: pathname + search,
          method: init?.method ?? 'GET',
          headers: toRecord(init?.headers, origin),
          body: requestBody ?? null,
          signal: init?.signal ?? null,
        });
        return toLeanResponse(href, answer, { limit, requestBody });
      };
    },
    [Symbol.asyncDispose]: async () => {
      if (loading) await (await loading).destroy();
    },
  };
};

// Messages are text; forms of the sign-in are not.
const textOf = async (body: RequestInit['body']): Promise<string | undefined> => {
  if (body === undefined || body === null || typeof body === 'string') return body ?? undefined;
  return await new Response(body).text();
};

// Compression pays over the internet and costs on the machine itself.
const toRecord = (given: RequestInit['headers'], origin: string): Record<string, string> => {
  const headers: Record<string, string> = Object.fromEntries(new Headers(given));
  if (origin.startsWith('https:')) headers['accept-encoding'] ??= 'br, gzip';
  return headers;
};
