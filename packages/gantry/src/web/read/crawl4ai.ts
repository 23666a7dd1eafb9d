import type { Clock } from '../../kernel/clock.ts';
import { GantryError, messageOf } from '../../kernel/errors.ts';
import { isObject, parseJson } from '../../kernel/json.ts';
import type { Log } from '../../kernel/log.ts';
import type { GuardedFetch } from '../../net/guarded-client.ts';
import type { ReadResult } from './page-reader.ts';

/** A Crawl4AI server of the operator's, which fetches and renders pages itself. */
export interface Crawl4ai {
  /** Asked at most once a minute. */
  isUp(): Promise<boolean>;
  /** @throws {GantryError} `execution_failed` when it gives no page. */
  read(url: string, signal: AbortSignal | undefined): Promise<ReadResult>;
}

const healthCacheMs = 60_000;
const healthTimeoutMs = 3_000;

/** The `/md` endpoint of a Crawl4AI server (https://docs.crawl4ai.com/core/self-hosting/). */
export const createCrawl4ai = (options: {
  readonly fetch: GuardedFetch;
  readonly baseUrl: string;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly clock: Clock;
  readonly log: Log;
}): Crawl4ai => {
  const { fetch, timeoutMs, maxBytes, clock, log } = options;
  const base = options.baseUrl.replace(/\/+$/, '');
  let health: { readonly isUp: boolean; readonly untilMs: number } | undefined;
  return {
    isUp: async () => {
      if (health && health.untilMs > clock.elapsedMs()) return health.isUp;
      let isUp = false;
      try {
        const response = await fetch(`${base}/health`, {
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
      const response = await fetch(`${base}/md`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify({ url, f: 'fit' }),
        signal,
        limits: { headersMs: timeoutMs, totalMs: timeoutMs, maxBytes },
      });
      if (!response.ok) {
        await response.body?.cancel();
        throw new GantryError('execution_failed', `crawl4ai answered HTTP ${response.status}.`, {
          details: { status: response.status },
        });
      }
      const parsed = parseJson(await response.text());
      const markdown = parsed.ok && isObject(parsed.value) ? parsed.value['markdown'] : undefined;
      if (typeof markdown !== 'string' || (parsed.ok && isObject(parsed.value) && parsed.value['success'] === false))
        throw new GantryError('execution_failed', 'crawl4ai answered without a page.');
      return {
        url,
        how: 'headless browser',
        title: '',
        text: markdown,
        rendering: 'not tried',
        droppedShare: 0,
        statusCode: 200,
      };
    },
  };
};
