import type { Clock } from '../../kernel/clock.ts';
import { GantryError, messageOf } from '../../kernel/errors.ts';
import type { Log } from '../../kernel/log.ts';
import type { GuardedFetch } from '../../net/guarded-client.ts';
import { flattenText } from '../../text/flatten.ts';
import { answerJson, describeStatus, engineError, objectsOf, textOrEmpty } from './answer-json.ts';
import type { SafeSearch, SearchAnswer, SearchCategory, SearchEngine, SearchRequest } from './search-engine.ts';
import { searchCategories } from './search-engine.ts';

const name = 'SearXNG';
const healthTimeoutMs = 3_000;

const categories: Readonly<Record<SearchCategory, string>> = {
  text: 'general',
  image: 'images',
  video: 'videos',
  news: 'news',
  papers: 'science',
  code: 'it',
  files: 'files',
  music: 'music',
};
const safeSearchLevels: Readonly<Record<SafeSearch, string>> = { off: '0', moderate: '1', strict: '2' };

/** How a SearXNG instance is used. */
export interface SearxngOptions {
  readonly fetch: GuardedFetch;
  /** Address of the instance; undefined = never available. */
  readonly baseUrl: string | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly timeoutMs: number;
  /** How long what was learned about its health is believed. */
  readonly healthCacheMs: number;
}

/** A metasearch instance of the operator's (https://docs.searxng.org/dev/search_api.html). Its JSON format must be enabled. */
export const searxngEngine = (options: SearxngOptions): SearchEngine => {
  const { fetch, clock, timeoutMs } = options;
  const base = options.baseUrl?.replace(/\/+$/, '');
  const health = createHealth(options, base);
  return {
    name,
    categories: new Set(searchCategories),
    isUp: () => health.last(),
    checkUp: () => health.check(),
    search: async (request) => {
      const response = await ask(`${base}/search?${toParameters(request).toString()}`, request);
      if (!response.ok) throw refusalOf(response);
      return toAnswer(await answerJson(name, response));
    },
  };

  async function ask(url: string, { signal }: SearchRequest): Promise<Response> {
    const startedMs = clock.elapsedMs();
    try {
      const headers = { accept: 'application/json' };
      // The operator named this address; where it would send us is nobody's choice.
      return await fetch(url, {
        headers,
        signal,
        redirect: 'error',
        limits: { headersMs: timeoutMs, totalMs: timeoutMs },
      });
    } catch (error) {
      if (!GantryError.is(error) || error.code !== 'timeout') throw error;
      throw engineError(name, `no answer within ${Math.round(clock.elapsedMs() - startedMs)} ms`, 408);
    }
  }
};

const toParameters = ({ query, category, safeSearch = 'moderate', language }: SearchRequest): URLSearchParams => {
  const parameters = new URLSearchParams({
    q: query,
    format: 'json',
    categories: categories[category],
    safesearch: safeSearchLevels[safeSearch],
  });
  if (language !== undefined) parameters.set('language', language);
  return parameters;
};

const toAnswer = (answer: Readonly<Record<string, unknown>>): SearchAnswer => {
  const hits = objectsOf(answer['results']).map((result) => ({
    title: textOrEmpty(result['title']),
    url: textOrEmpty(result['url']),
    snippet: textOrEmpty(result['content']),
    facts: [textOrEmpty(result['length']), textOrEmpty(result['publishedDate']).slice(0, 10)].filter(
      (fact) => fact !== '',
    ),
    imageUrl: textOrEmpty(result['img_src']) || undefined,
  }));
  const [first] = Array.isArray(answer['answers']) ? (answer['answers'] as unknown[]) : [];
  const said = typeof first === 'string' ? first : textOrEmpty((first as { answer?: unknown } | undefined)?.answer);
  if (hits.length === 0 && said === '') {
    const silent = unresponsive(answer['unresponsive_engines']);
    // The instance answered, but nobody behind it looked.
    if (silent !== '') throw engineError(name, `the engines behind it did not answer: ${silent}`);
  }
  return { hits, answer: said || undefined };
};

const unresponsive = (value: unknown): string =>
  (Array.isArray(value) ? (value as unknown[]) : [])
    .filter((entry): entry is unknown[] => Array.isArray(entry))
    .map(
      ([engine, reason]) =>
        `${flattenText(String(engine), { maxChars: 40 })} (${flattenText(String(reason), { maxChars: 80 })})`,
    )
    .join(', ');

const refusalOf = (response: Response): GantryError => {
  const hint =
    response.status === 403 ? '; its JSON format is probably not enabled (search.formats in its settings)' : '';
  return engineError(name, `${describeStatus(response)}${hint}`, response.status);
};

/** Whether the instance is there: asked at most once in a while, and logged when it changes. */
const createHealth = (
  options: SearxngOptions,
  base: string | undefined,
): { last(): boolean; check(): Promise<boolean> } => {
  const { fetch, clock, log, healthCacheMs } = options;
  let isUp: boolean | undefined;
  let untilMs = Number.NEGATIVE_INFINITY;
  let asking: Promise<boolean> | undefined;

  const probe = async (): Promise<boolean> => {
    let problem: string | undefined;
    try {
      const response = await fetch(`${base}/healthz`, {
        redirect: 'error',
        limits: { headersMs: healthTimeoutMs, totalMs: healthTimeoutMs },
      });
      await response.body?.cancel();
      if (!response.ok) problem = describeStatus(response);
    } catch (error) {
      problem = messageOf(error);
    }
    const wasUp = isUp;
    isUp = problem === undefined;
    untilMs = clock.elapsedMs() + healthCacheMs;
    if (!isUp && wasUp !== false) log.warn({ url: base, problem }, 'SearXNG is down; other engines are used');
    if (isUp && wasUp === false) log.info({ url: base }, 'SearXNG is up again');
    return isUp;
  };

  const check = (): Promise<boolean> => {
    if (base === undefined) return Promise.resolve(false);
    if (isUp !== undefined && untilMs > clock.elapsedMs()) return Promise.resolve(isUp);
    asking ??= probe().finally(() => (asking = undefined));
    return asking;
  };

  return {
    last: () => {
      // A turn does not wait; the next one has the news.
      void check();
      return isUp === true;
    },
    check,
  };
};
