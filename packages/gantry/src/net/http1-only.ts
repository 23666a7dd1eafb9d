/**
 * HTTP/1.1 to everybody. Node's HTTP/2 client can loop for ever in native code when a request is cancelled before its headers are written while
 * another one begins on the same connection (seen with Node 26.10): the process answers nothing any more, not even signals, and takes all
 * memory. Cancelling is what callers of tools and models do all the time, and nothing is lost: pooled connections of HTTP/1.1 are as fast here.
 */
import type { Dispatcher } from 'undici';

const known = new WeakMap<Dispatcher, Dispatcher>();

/** The same connections without HTTP/2: no request on them offers it. */
const http1 = (dispatcher: Dispatcher): Dispatcher => {
  // Of another kind than undici's own.
  if (typeof (dispatcher as Partial<Dispatcher>).compose !== 'function') return dispatcher;
  const made =
    known.get(dispatcher) ??
    dispatcher.compose((dispatch) => (request, handler) => {
      // undici's agents read it of each request, which its types do not say.
      const http1Only: Dispatcher.DispatchOptions & { readonly allowH2: false } = { ...request, allowH2: false };
      return dispatch(http1Only, handler);
    });
  known.set(dispatcher, made);
  known.set(made, made);
  return made;
};

// Before undici 8 nobody offered HTTP/2 unless told to.
const offersHttp2 = (): boolean => Number.parseInt(process.versions['undici'] ?? '0') >= 8;

/**
 * The `fetch` of the process, on the connections that it has now (a proxy's, perhaps), without HTTP/2.
 * @throws what `fetch` throws.
 */
export const http1Fetch: typeof fetch = async (input, init) => {
  if (!offersHttp2()) return await fetch(input, init);
  const { getGlobalDispatcher } = await import('undici');
  // Node's own types have a copy of the library's, which TypeScript takes for others.
  const ways: object = { dispatcher: http1(getGlobalDispatcher()) };
  return await fetch(input, { ...init, ...ways });
};

/** Has every `fetch` of the process do so, unless its connections are replaced later: for a process that is Gantry's own. */
export const useHttp1Only = async (): Promise<void> => {
  if (!offersHttp2()) return;
  const { getGlobalDispatcher, setGlobalDispatcher } = await import('undici');
  setGlobalDispatcher(http1(getGlobalDispatcher()));
};
