import { useHttp1Only } from '../net/http1-only.ts';

/**
 * Makes the web's classes those of the HTTP library that connections use. Node's own come with a second copy of it, which is loaded when one
 * of them is first touched (50 ms, 15 MB). They stay where that is so already, as with a proxy that the environment names
 * (`NODE_USE_ENV_PROXY`), and where somebody has put another `fetch` in their place, such as a tracer.
 */
export const useOneHttpLibrary = async (): Promise<void> => {
  if (isUntouched()) {
    const { CloseEvent, ErrorEvent, FormData, Headers, MessageEvent, Request, Response, fetch } =
      await import('undici');
    Object.assign(globalThis, { CloseEvent, ErrorEvent, FormData, Headers, MessageEvent, Request, Response, fetch });
  }
  await useHttp1Only();
};

const isUntouched = (): boolean =>
  !Object.hasOwn(globalThis, Symbol.for('undici.globalDispatcher.1')) &&
  !Object.isFrozen(globalThis) &&
  // The module inside of Node that its own loads; looking at a class would load it.
  Function.prototype.toString.call(globalThis.fetch).includes('internal/deps/undici');
