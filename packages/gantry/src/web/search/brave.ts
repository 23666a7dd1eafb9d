import { isObject } from '../../kernel/json.ts';
import type { GantryError } from '../../kernel/errors.ts';
import type { GuardedFetch } from '../../net/guarded-client.ts';
import { answerJson, describeStatus, engineError, objectsOf, textOrEmpty } from './answer-json.ts';
import type { BraveKey, BraveKeys } from './brave-keys.ts';
import type { Pacer } from './pacer.ts';
import type { SearchCategory, SearchEngine, SearchHit, SearchRequest } from './search-engine.ts';

const name = 'Brave Search';
const timeoutMs = 15_000;

/** Path and most results of each kind of search. */
const searches: Readonly<Partial<Record<SearchCategory, { readonly path: string; readonly most: number }>>> = {
  text: { path: '/web/search', most: 20 },
  image: { path: '/images/search', most: 30 },
  video: { path: '/videos/search', most: 20 },
  news: { path: '/news/search', most: 20 },
};

/** The Brave Search API (https://api-dashboard.search.brave.com/app/documentation). Needs a key. */
export const braveEngine = (options: {
  readonly fetch: GuardedFetch;
  readonly pacer: Pacer;
  readonly keys: BraveKeys;
  readonly baseUrl?: string | undefined;
}): SearchEngine => {
  const { fetch, pacer, keys, baseUrl = 'https://api.search.brave.com/res/v1' } = options;
  return {
    name,
    categories: new Set(Object.keys(searches) as SearchCategory[]),
    isUp: keys.isKnown,
    checkUp: async ({ workspace }) => (await keys.find(workspace)) !== undefined,
    search: async (request) => {
      const { path, most } = searches[request.category] ?? { path: '/web/search', most: 20 };
      const url = `${baseUrl}${path}?${toParameters(request, most).toString()}`;
      const key = await keys.find(request.workspace);
      const headers = { accept: 'application/json', 'x-subscription-token': key?.value ?? '' };
      const send = (): Promise<Response> =>
        fetch(url, { headers, signal: request.signal, limits: { headersMs: timeoutMs, totalMs: timeoutMs } });
      const response = await pacer.send(send, request.signal);
      if (!response.ok) throw await refusalOf(response, key?.owner);
      const answer = await answerJson(name, response);
      const web = isObject(answer['web']) ? answer['web']['results'] : undefined;
      const results = objectsOf(request.category === 'text' ? web : answer['results']);
      const query = isObject(answer['query']) ? textOrEmpty(answer['query']['altered']) : '';
      return { hits: results.map((result) => toHit(result, request.category)), correctedQuery: query || undefined };
    },
  };
};

const toParameters = (
  { query, category, count, safeSearch = 'off', language = 'en' }: SearchRequest,
  most: number,
): URLSearchParams => {
  const parameters = new URLSearchParams({
    q: query,
    count: String(Math.min(count, most)),
    country: 'US',
    search_lang: language === 'ja' ? 'jp' : language,
    // The image search knows no middle way.
    safesearch: category === 'image' && safeSearch === 'moderate' ? 'strict' : safeSearch,
    spellcheck: 'true',
  });
  if (category === 'text' || category === 'video') parameters.set('ui_lang', 'en-US');
  return parameters;
};

const toHit = (result: Readonly<Record<string, unknown>>, category: SearchCategory): SearchHit => {
  const { properties, thumbnail, video } = result;
  const image =
    (isObject(properties) ? textOrEmpty(properties['url']) : '') ||
    (isObject(thumbnail) ? textOrEmpty(thumbnail['src']) : '');
  const facts = [isObject(video) ? textOrEmpty(video['duration']) : '', textOrEmpty(result['age'])].filter(
    (fact) => fact !== '',
  );
  return {
    title: withoutTags(textOrEmpty(result['title'])),
    url: textOrEmpty(result['url']),
    snippet: withoutTags(textOrEmpty(result['description'])),
    facts,
    imageUrl: category === 'image' ? image || undefined : undefined,
  };
};

// Matching words come in <strong>.
const withoutTags = (text: string): string => text.replaceAll(/<\/?strong>/g, '');

const refusalOf = async (response: Response, owner: BraveKey['owner'] | undefined): Promise<GantryError> => {
  const { status } = response;
  const body = await response.text();
  if (status === 429 || /rate.?limit|quota/i.test(body))
    return engineError(name, `the provider limits the rate of searches (HTTP ${status}); wait a few seconds`, 429);
  if (status === 401 || status === 403 || /unauthorized|invalid.?(?:api.?)?key|subscription/i.test(body))
    return engineError(
      name,
      owner === 'workspace'
        ? `the key of this workspace is not accepted (HTTP ${status}); who manages the workspace has to correct it`
        : `the key is not accepted (HTTP ${status}); an operator has to correct BRAVE_API_KEY`,
      status,
    );
  return engineError(name, describeStatus(response), status);
};
