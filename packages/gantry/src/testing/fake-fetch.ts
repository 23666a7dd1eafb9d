import type { GuardedFetch, GuardedInit } from '../net/guarded-client.ts';

/** A request as {@link fakeFetch} saw it. */
export interface SeenRequest {
  readonly url: URL;
  readonly method: string;
  readonly headers: Headers;
  readonly init: GuardedInit;
}

/** A fetch function that asks nobody: `answer` says what comes back, `seen` what was asked, in order. */
export const fakeFetch = (
  answer: (request: SeenRequest, index: number) => Response | Promise<Response>,
): { readonly fetch: GuardedFetch; readonly seen: readonly SeenRequest[] } => {
  const seen: SeenRequest[] = [];
  return {
    seen,
    fetch: async (url, init = {}) => {
      const request = { url: new URL(url), method: init.method ?? 'GET', headers: new Headers(init.headers), init };
      seen.push(request);
      const response = await answer(request, seen.length - 1);
      if (response.url === '') Object.defineProperty(response, 'url', { value: request.url.href });
      return response;
    },
  };
};
