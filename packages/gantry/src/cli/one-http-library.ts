/**
 * Makes the web's classes those of the HTTP library that connections use. Node's own come with a second copy of it, which is loaded when one
 * of them is first touched (50 ms, 15 MB). Where Node's `fetch` was given connections of its own, as for a proxy that the environment names
 * (`NODE_USE_ENV_PROXY`), it stays.
 */
export const useOneHttpLibrary = async (): Promise<void> => {
  if (Object.hasOwn(globalThis, Symbol.for('undici.globalDispatcher.1'))) return;
  const { CloseEvent, ErrorEvent, FormData, Headers, MessageEvent, Request, Response, fetch } = await import('undici');
  Object.assign(globalThis, { CloseEvent, ErrorEvent, FormData, Headers, MessageEvent, Request, Response, fetch });
};
