import type { Log } from '../../kernel/log.ts';

/** A way to fetch a URL for `fetch_url`. */
export type FetchEngineName = 'safe_http' | 'crawl4ai';

/**
 * Reads `FETCH_URL_ENGINE_ORDER`: a comma list, case and order as they come. `safe_http` (also called `mcp_fetch`) is always there and
 * always last; `crawl4ai` is admitted only where private networks may be fetched, because it fetches by rules of its own.
 */
export const parseEngineOrder = (
  text: string,
  options: { readonly privateNetworksOpen: boolean; readonly log: Log },
): readonly FetchEngineName[] => {
  const { privateNetworksOpen, log } = options;
  const order = new Set<FetchEngineName>();
  for (const part of text.split(',')) {
    const name = part.trim().toLowerCase();
    if (name === '' || name === 'safe_http' || name === 'mcp_fetch') continue;
    if (name !== 'crawl4ai')
      log.warn(
        { engine: name },
        'FETCH_URL_ENGINE_ORDER names an engine that does not exist; known: safe_http, crawl4ai',
      );
    else if (privateNetworksOpen) order.add(name);
    else
      log.warn(
        { engine: name },
        'crawl4ai is left out: it is used only where private networks may be fetched (FETCH_URL_ALLOW_PRIVATE_NETWORK)',
      );
  }
  return [...order, 'safe_http'];
};
