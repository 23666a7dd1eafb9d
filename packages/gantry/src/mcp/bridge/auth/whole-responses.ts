import type { FetchLike } from '@modelcontextprotocol/client';

const bodiless: ReadonlySet<number> = new Set([204, 205, 304]);

/** Makes real `Response`s of the lean ones of the pool, which the sign-in of the SDK tells from texts. They are small. */
export const withWholeResponses =
  (fetch: FetchLike): FetchLike =>
  async (url, init) => {
    const answer = await fetch(url, init);
    const text = await answer.text();
    const { status, statusText, headers } = answer;
    return new Response(bodiless.has(status) ? null : text, { status, statusText, headers });
  };
