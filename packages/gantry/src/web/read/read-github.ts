import { messageOf } from '../../kernel/errors.ts';
import { parseJson } from '../../kernel/json.ts';
import type { Log } from '../../kernel/log.ts';
import type { GuardedFetch } from '../../net/guarded-client.ts';
import type { GithubItem } from './github-page.ts';
import { toGithubPage } from './github-page.ts';
import type { PageReaderOptions } from './page-reader.ts';

const maxBytes = 4 * 1024 * 1024;

/**
 * Makes the way to GitHub's API. What it cannot give (private, moved, over the rate limit) comes back undefined, and is logged.
 *
 * @param options `token` is sent to the API's own host only.
 */
export const createReadGithub =
  (options: {
    readonly fetch: GuardedFetch;
    readonly userAgent: string;
    readonly token?: string | undefined;
    readonly log: Log;
  }): PageReaderOptions['readGithub'] =>
  async (item: GithubItem, signal) => {
    const { fetch, userAgent, token, log } = options;
    try {
      const response = await fetch(item.apiUrl, {
        headers: {
          accept: 'application/vnd.github+json',
          'user-agent': userAgent,
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        },
        signal,
        limits: { maxBytes },
      });
      const text = await response.text();
      const parsed = response.ok ? parseJson(text) : undefined;
      if (parsed?.ok) return toGithubPage(item, parsed.value);
      log.debug(
        { url: item.apiUrl, status: response.status },
        'the API of GitHub did not answer; the page is read instead',
      );
    } catch (error) {
      if (signal?.aborted) throw error;
      log.debug(
        { url: item.apiUrl, reason: messageOf(error) },
        'the API of GitHub did not answer; the page is read instead',
      );
    }
    return undefined;
  };
