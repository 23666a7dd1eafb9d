import { isDeepStrictEqual } from 'node:util';
import type { Client } from '@modelcontextprotocol/client';
import { jsonProblem, maxJsonDepth } from '../../../kernel/json-problem.ts';
import { isObject } from '../../../kernel/json.ts';
import type { Log } from '../../../kernel/log.ts';
import { noSdkTimeoutMs } from '../connection/sdk.ts';
import { rawResult } from '../connection/watch-transport.ts';

const maxPages = 200;

/** The lists of a server, and where each stands in its answer. */
export type ListMethod = 'tools/list' | 'prompts/list' | 'resources/list' | 'resources/templates/list';

const memberOf: Readonly<Record<ListMethod, string>> = {
  'tools/list': 'tools',
  'prompts/list': 'prompts',
  'resources/list': 'resources',
  'resources/templates/list': 'resourceTemplates',
};

/**
 * Everything in a server's list, page after page, as the server wrote it. A cursor is sent back unchanged; one that came before, or the
 * 200th page, ends the list with a warning, and what came is kept. What nests too deep to be passed on is left out. An answer without a list counts as an empty page and is a problem.
 */
export const listPages = async (
  client: Client,
  method: ListMethod,
  options: {
    readonly server: string;
    readonly log: Log;
    readonly signal: AbortSignal;
    readonly onProblem?: ((problem: string) => void) | undefined;
  },
): Promise<unknown[]> => {
  const { server, log, signal, onProblem } = options;
  const items: unknown[] = [];
  const seen = new Set<string>();
  let cursor: string | undefined;
  for (let page = 1; ; page += 1) {
    const result = await client.request({ method, params: cursor === undefined ? {} : { cursor } }, rawResult, {
      signal,
      timeout: noSdkTimeoutMs,
    });
    const listed = isObject(result) ? result[memberOf[method]] : undefined;
    const next = isObject(result) ? result['nextCursor'] : undefined;
    const repeats = typeof next === 'string' && seen.has(next);
    // Under a repeated cursor comes, as a rule, the page that was there already.
    const isKnown = (item: unknown): boolean => repeats && items.some((known) => isDeepStrictEqual(known, item));
    if (Array.isArray(listed)) {
      const writable = (listed as unknown[]).filter((item) => jsonProblem(item) === undefined);
      if (writable.length < listed.length)
        log.warn(
          { server, method, leftOut: listed.length - writable.length },
          `Server "${server}" nests members of ${method} deeper than ${maxJsonDepth} levels; they are left out.`,
        );
      for (const item of writable) if (!isKnown(item)) items.push(item);
    } else {
      const problem = `Server "${server}" answered ${method} without a list "${memberOf[method]}", so nothing of it is offered.`;
      log.warn({ server, method }, problem);
      onProblem?.(problem);
    }
    if (typeof next !== 'string') return items;
    if (repeats || page === maxPages) {
      log.warn(
        { server, method, pages: page },
        repeats
          ? `Server "${server}" repeats a cursor in ${method}; the list ends there.`
          : `Server "${server}" has more than ${maxPages} pages in ${method}; the rest is left out.`,
      );
      return items;
    }
    seen.add(next);
    cursor = next;
  }
};
