import type { FetchLike } from '@modelcontextprotocol/client';
import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { decodeBody } from '../../../net/decode-body.ts';
import type { FileHttp } from '../attachments/attachment-http.ts';
import type { AddressGuard } from './address-guard.ts';
import { requestAnswer } from './http-answer.ts';
import { toHeaders, toLeanResponse } from './lean-response.ts';

/** The HTTP connections to all servers. Disposing closes them. */
export interface HttpPool extends AsyncDisposable {
  /**
   * A fetch for one server: on pooled connections, with the size of every answer limited. It never follows a redirect by itself.
   * `isGuarded`: only to addresses that the guard lets through.
   */
  fetchFor(server: string, options: { readonly isGuarded: boolean }): FetchLike;
  /** The same connections for files, whose size is not limited. */
  filesFor(options: { readonly isGuarded: boolean }): FileHttp;
}

/**
 * Makes the pool. Connections stay open between calls, and there is no limit to how many one server gets, so a stream that stays open
 * never holds up a call. Nothing here times out: budgets belong to calls.
 */
export const createHttpPool = (options: { maxResponseBytes: number; guard: AddressGuard }): HttpPool => {
  const loading = new Map<boolean, Promise<Dispatcher>>();
  const load = async (isGuarded: boolean): Promise<Dispatcher> => {
    const { Agent, buildConnector } = await import('undici');
    return new Agent({
      keepAliveTimeout: 30_000,
      headersTimeout: 0,
      bodyTimeout: 0,
      // As everywhere (net/http1-only.ts).
      allowH2: false,
      ...(isGuarded ? { connect: options.guard.connector(buildConnector({ allowH2: false })) } : {}),
    });
  };
  const dispatcherOf = (isGuarded: boolean): Promise<Dispatcher> => {
    const known = loading.get(isGuarded) ?? load(isGuarded);
    loading.set(isGuarded, known);
    return known;
  };
  return {
    fetchFor: (server, { isGuarded }) => {
      const limit = { maxBytes: options.maxResponseBytes, server };
      return async (url, init) => {
        const dispatcher = await dispatcherOf(isGuarded);
        const { origin, pathname, search, href } = typeof url === 'string' ? new URL(url) : url;
        const requestBody = await textOf(init?.body);
        const request = {
          origin,
          path: pathname + search,
          method: init?.method ?? 'GET',
          headers: toRecord(init?.headers, origin),
          body: requestBody ?? null,
        };
        const answer = await requestAnswer(dispatcher, request, init?.signal ?? undefined);
        return toLeanResponse(href, answer, { limit, requestBody });
      };
    },
    filesFor:
      ({ isGuarded }) =>
      async ({ method, url, headers, body, signal }) => {
        const dispatcher = await dispatcherOf(isGuarded);
        const answer = await dispatcher.request({
          origin: url.origin,
          path: url.pathname + url.search,
          method,
          headers: { ...headers },
          body: body ? Readable.from(body, { objectMode: false }) : null,
          signal,
        });
        return {
          status: answer.statusCode,
          headers: toHeaders(answer.headers),
          body: decodeBody(answer.body, String(answer.headers['content-encoding'] ?? '')),
          discard: () => answer.body.dump(),
        };
      },
    [Symbol.asyncDispose]: async () => {
      for (const dispatcher of loading.values()) await (await dispatcher).destroy();
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
  const headers: Record<string, string> = {};
  // Reading a plain record through the standard's own class costs more than all else here.
  const entries = given instanceof Headers || Array.isArray(given) ? new Headers(given) : Object.entries(given ?? {});
  for (const [name, value] of entries) if (value !== undefined) headers[name.toLowerCase()] = value;
  if (origin.startsWith('https:')) headers['accept-encoding'] ??= 'br, gzip';
  return headers;
};
