import { messageOf } from '../../../kernel/errors.ts';
import type { Log } from '../../../kernel/log.ts';
import type { GuardedClient } from '../../../net/guarded-client.ts';
import type { Crawl4ai } from './crawl4ai.ts';
import type { PageReader } from '../page-reader.ts';

/** Lets Crawl4AI try first where it is up; its failures go to the reader that is wrapped. Raw texts are never its business. */
export const withCrawl4ai = (
  reader: PageReader,
  options: { readonly crawl4ai: Crawl4ai; readonly check: GuardedClient['check']; readonly log: Log },
): PageReader => {
  const { crawl4ai, check, log } = options;
  return {
    read: async (url, how) => {
      // It fetches by rules of its own, so the address is judged before it hears of it.
      await check(url, { signal: how.signal });
      if (how.mode !== 'raw' && (await crawl4ai.isUp()))
        try {
          const page = await crawl4ai.read(url, how.signal);
          // It also follows redirects by rules of its own.
          await check(page.url, { signal: how.signal });
          return page;
        } catch (error) {
          if (how.signal?.aborted) throw error;
          log.warn({ url, reason: messageOf(error) }, 'crawl4ai failed; the page is fetched directly');
        }
      return reader.read(url, how);
    },
  };
};
