import { GantryError } from '../../../kernel/errors.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { isObject, parseJson } from '../../../kernel/json.ts';
import type { Log } from '../../../kernel/log.ts';

/** What the server leaves out of a page before it gives it: nothing, its frame, or what does not fit a question. */
export const crawl4aiFilters = ['fit', 'raw', 'bm25', 'llm'] as const;

/** One of {@link crawl4aiFilters}. */
export type Crawl4aiFilter = (typeof crawl4aiFilters)[number];

/** Reads the name of a filter; one that does not exist is logged and means `fit`. */
export const parseCrawl4aiFilter = (text: string, log: Log): Crawl4aiFilter => {
  const wanted = text.trim().toLowerCase();
  const found = crawl4aiFilters.find((filter) => filter === wanted);
  if (!found)
    log.warn({ filter: text }, `crawl4ai has no such filter, "fit" is used; known: ${crawl4aiFilters.join(', ')}`);
  return found ?? 'fit';
};

/** How one page is asked for. */
export interface Crawl4aiRequest {
  readonly path: '/md' | '/crawl';
  readonly body: JsonObject;
  /** How much larger than the page the answer may be. */
  readonly timesBytes: number;
}

/** The request for a page: only `/crawl` takes cookies, and it gives the page several times over. */
export const toCrawl4aiRequest = (
  url: string,
  options: { readonly filter: Crawl4aiFilter; readonly cookies: readonly JsonObject[] },
): Crawl4aiRequest => {
  const { filter, cookies } = options;
  if (cookies.length === 0) return { path: '/md', body: { url, f: filter }, timesBytes: 1 };
  const pruned = {
    type: 'DefaultMarkdownGenerator',
    params: { content_filter: { type: 'PruningContentFilter', params: {} } },
  };
  return {
    path: '/crawl',
    body: {
      urls: [url],
      // Objects within parameters are told from classes by this wrapper.
      browser_config: {
        type: 'BrowserConfig',
        params: { headless: true, cookies: cookies.map((cookie) => ({ type: 'dict', value: cookie })) },
      },
      crawler_config: {
        type: 'CrawlerRunConfig',
        params: { stream: false, ...(filter === 'fit' ? { markdown_generator: pruned } : {}) },
      },
    },
    timesBytes: 4,
  };
};

/** A page as the server gave it. */
export interface Crawl4aiPage {
  readonly markdown: string;
  readonly title: string;
  /** Where it was found, where the server says so. */
  readonly url?: string | undefined;
  readonly statusCode?: number | undefined;
}

/**
 * Reads the answer to either request.
 * @throws {GantryError} `execution_failed` when there is no page in it.
 */
export const readCrawl4aiAnswer = (text: string, path: Crawl4aiRequest['path']): Crawl4aiPage => {
  const parsed = parseJson(text);
  const answer = parsed.ok && isObject(parsed.value) && parsed.value['success'] !== false ? parsed.value : undefined;
  const page = answer && (path === '/md' ? toPage(answer) : toPage(firstOf(answer['results'])));
  if (!page) throw new GantryError('execution_failed', 'crawl4ai answered without a page.');
  return page;
};

const firstOf = (results: unknown): unknown => (Array.isArray(results) ? (results as unknown[])[0] : undefined);

const toPage = (result: unknown): Crawl4aiPage | undefined => {
  if (!isObject(result) || result['success'] === false) return undefined;
  const { markdown, metadata, redirected_url: url, status_code: first, redirected_status_code: last } = result;
  const given = isObject(markdown) ? (textOf(markdown['fit_markdown']) ?? textOf(markdown['raw_markdown'])) : markdown;
  if (typeof given !== 'string') return undefined;
  const statusCode = typeof last === 'number' ? last : first;
  return {
    markdown: given,
    title: (isObject(metadata) ? textOf(metadata['title']) : undefined) ?? '',
    url: addressOf(url),
    statusCode: typeof statusCode === 'number' ? statusCode : undefined,
  };
};

const addressOf = (value: unknown): string | undefined => {
  const url = typeof value === 'string' ? URL.parse(value) : null;
  return url && /^https?:$/.test(url.protocol) ? url.href : undefined;
};

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value : undefined;
