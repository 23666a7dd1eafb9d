import type { GuardedFetch } from '../../net/guarded-client.ts';
import { readBody } from '../../net/read-body.ts';
import type { PageElement } from '../html/page-tree.ts';
import { describeStatus, engineError } from './answer-json.ts';
import type { SearchAnswer, SearchEngine, SearchHit } from './search-engine.ts';

const name = 'DuckDuckGo';
const timeoutMs = 15_000;
const maxBytes = 1024 * 1024;
const maxBlocks = 50;
const maxQueryPoints = 500;

/** The results page of DuckDuckGo that needs neither key nor scripts. Texts only. */
export const duckDuckGoEngine = (options: {
  /** Must reach the public internet only: its answers name whatever they like. */
  readonly fetch: GuardedFetch;
  readonly userAgent: string;
  readonly baseUrl?: string | undefined;
}): SearchEngine => {
  const { fetch, userAgent, baseUrl = 'https://html.duckduckgo.com/html/' } = options;
  return {
    name,
    categories: new Set(['text']),
    isUp: () => true,
    search: async ({ query, safeSearch, language, signal }) => {
      const parameters = new URLSearchParams({ q: [...query].slice(0, maxQueryPoints).join('') });
      if (safeSearch !== undefined) parameters.set('kp', { off: '-2', moderate: '-1', strict: '1' }[safeSearch]);
      if (language !== undefined) parameters.set('kl', regionOf(language));
      const response = await fetch(`${baseUrl}?${parameters.toString()}`, {
        headers: { accept: 'text/html', 'accept-language': `${language ?? 'en-US'},en;q=0.8`, 'user-agent': userAgent },
        signal,
        limits: { headersMs: timeoutMs, totalMs: timeoutMs },
      });
      const { bytes } = await readBody(response, maxBytes);
      if (response.status === 429)
        throw engineError(name, 'the provider limits the rate of searches (HTTP 429); wait a few seconds', 429);
      const html = Buffer.from(bytes).toString();
      if (response.status === 202 || response.status === 403 || challenge.test(html))
        throw engineError(name, `it asks for proof that a person is searching (HTTP ${response.status})`, 403);
      if (!response.ok) throw engineError(name, describeStatus(response), response.status);
      return readResults(html);
    },
  };
};

const challenge = /anomaly-modal|anomaly\.js|challenge-form|id="challenge/i;
const regionOf = (language: string): string => (language === 'en' ? 'us-en' : `${language}-${language}`);

/** The results of a page; a page without results that does not say so is no answer. */
const readResults = async (html: string): Promise<SearchAnswer> => {
  const { findElement, parsePage, textOf, visitElements } = await import('../html/page-tree.ts');
  const { root } = parsePage(html);
  const blocks: PageElement[] = [];
  let saysNone = false;
  visitElements(root, (element) => {
    const classes = (element.attributes['class'] ?? '').split(/\s+/);
    if (classes.includes('no-results') || classes.includes('result--no-result')) saysNone = true;
    if (!classes.includes('result') || classes.includes('result--no-result')) return true;
    if (!classes.includes('result--ad') && blocks.length < maxBlocks) blocks.push(element);
    return false;
  });
  const part = (block: PageElement, className: string): PageElement | undefined =>
    findElement(block, ({ attributes }) => (attributes['class'] ?? '').split(/\s+/).includes(className));
  const seen = new Set<string>();
  const hits: SearchHit[] = [];
  for (const block of blocks) {
    const link = part(block, 'result__a');
    const url = link && unwrap(link.attributes['href'] ?? '');
    if (!link || url === undefined || seen.has(url)) continue;
    seen.add(url);
    const snippet = part(block, 'result__snippet');
    hits.push({ title: textOf(link), url, snippet: snippet ? textOf(snippet) : '' });
  }
  if (hits.length > 0 || saysNone) return { hits };
  throw engineError(name, blocks.length > 0 ? 'its results hold no usable link' : 'the answer is no page of results');
};

/** Where a result leads: out of the engine's own click counter, once, and nowhere on the engine itself. */
const unwrap = (href: string): string | undefined => {
  let url = URL.parse(href, 'https://html.duckduckgo.com/');
  const target = url?.pathname === '/l/' && isOwnHost(url) ? url.searchParams.get('uddg') : null;
  if (target !== null) url = URL.parse(target);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '' || isOwnHost(url))
    return undefined;
  return url.href;
};

const isOwnHost = ({ hostname }: URL): boolean => hostname === 'duckduckgo.com' || hostname.endsWith('.duckduckgo.com');
