/**
 * Makes the web's classes those of the HTTP library that connections use. Node's own come with a second copy of it, which is loaded when one
 * of them is first touched (50 ms, 15 MB).
 */
export const useOneHttpLibrary = async (): Promise<void> => {
  const { CloseEvent, ErrorEvent, FormData, Headers, MessageEvent, Request, Response, fetch } = await import('undici');
  Object.assign(globalThis, { CloseEvent, ErrorEvent, FormData, Headers, MessageEvent, Request, Response, fetch });
};
