import type { Clock } from '../../../kernel/clock.ts';
import { GantryError, messageOf } from '../../../kernel/errors.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { Log } from '../../../kernel/log.ts';
import type { GuardedFetch } from '../../../net/guarded-client.ts';
import { readBody } from '../../../net/read-body.ts';
import { flattenText } from '../../../text/flatten.ts';
import type { Crawl4aiFilter } from './crawl4ai-answers.ts';
import { readCrawl4aiAnswer, toCrawl4aiRequest } from './crawl4ai-answers.ts';
import type { ReadResult } from '../page-reader.ts';

/** A Crawl4AI server of the operator's, which fetches and renders pages itself. */
export interface Crawl4ai {
  /** Asked at most once a minute. */
  isUp(): Promise<boolean>;
  /** @throws {GantryError} `execution_failed` when it gives no page. */
  read(url: string, signal: AbortSignal | undefined): Promise<ReadResult>;
}

const healthCacheMs = 60_000;
const healthTimeoutMs = 3_000;

/** Most bytes of an error's text that are looked at. */
const maxErrorBytes = 4 * 1024;

/** How a server is used. */
export interface Crawl4aiOptions {
  readonly fetch: GuardedFetch;
  readonly baseUrl: string;
  readonly timeoutMs: number;
  /** Most bytes of a page. */
  readonly maxBytes: number;
  readonly filter: Crawl4aiFilter;
  /** Cookies that the browser of the server has for every page, as Playwright takes them. */
  readonly cookies: readonly JsonObject[];
  readonly clock: Clock;
  readonly log: Log;
}

/** The endpoints `/md`, or `/crawl` with cookies, of a Crawl4AI server (https://docs.crawl4ai.com/core/self-hosting/). */
export const createCrawl4ai = (options: Crawl4aiOptions): Crawl4ai => {
  const { fetch, timeoutMs, maxBytes, filter, cookies, clock, log } = options;
  const base = options.baseUrl.replace(/\/+$/, '');
  let health: { readonly isUp: boolean; readonly untilMs: number } | undefined;
  return {
    isUp: async () => {
      if (health && health.untilMs > clock.elapsedMs()) return health.isUp;
      let isUp = false;
      try {
        const response = await fetch(`${base}/health`, {
          redirect: 'error',
          limits: { headersMs: healthTimeoutMs, totalMs: healthTimeoutMs },
        });
        await response.body?.cancel();
        isUp = response.ok;
      } catch (error) {
        log.debug({ url: base, reason: messageOf(error) }, 'crawl4ai does not answer');
      }
      health = { isUp, untilMs: clock.elapsedMs() + healthCacheMs };
      return isUp;
    },
    read: async (url, signal) => {
      const { path, body, timesBytes } = toCrawl4aiRequest(url, { filter, cookies });
      const response = await fetch(`${base}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify(body),
        // The operator named this address; where it would send us is nobody's choice.
        redirect: 'error',
        signal,
        limits: { headersMs: timeoutMs, totalMs: timeoutMs, maxBytes: maxBytes * timesBytes },
      });
      if (!response.ok) throw await failureOf(response);
      const page = readCrawl4aiAnswer(await response.text(), path);
      return {
        url: page.url ?? url,
        how: 'headless browser',
        title: page.title,
        text: page.markdown,
        rendering: 'not tried',
        droppedShare: 0,
        statusCode: page.statusCode ?? 200,
      };
    },
  };
};

const failureOf = async (response: Response): Promise<GantryError> => {
  const { status } = response;
  const { bytes } = await readBody(response, maxErrorBytes);
  const said = flattenText(Buffer.from(bytes).toString(), { maxChars: 200 });
  return new GantryError('execution_failed', `crawl4ai answered HTTP ${status}${said === '' ? '.' : `: ${said}`}`, {
    details: { status },
  });
};
