import * as z from 'zod';
import { GantryError, messageOf } from '../../kernel/errors.ts';
import type { NewId } from '../../kernel/ids.ts';
import { truncateText } from '../../text/truncate.ts';
import type { CallContext } from '../../tool/context.ts';
import { defineTool } from '../../tool/define-tool.ts';
import type { Tool } from '../../tool/executor.ts';
import type { InsteadOf } from '../instead-of.ts';
import { readModes } from './read-modes.ts';
import type { PageReader, ReadOptions, ReadResult } from './page-reader.ts';
import { pageBody, pageHead } from './page-text.ts';
import type { StashPage } from './stash-page.ts';
import { describeStashed } from './stash-page.ts';

/** Sites refuse what does not look like a browser; a person asked for the page. */
const browserAgent =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/139.0.0.0 Safari/537.36';

/** What the tool is made of. */
export interface WebBrowseOptions {
  readonly reader: PageReader;
  readonly stashPage: StashPage;
  /** Longest page, in characters, that is given whole. */
  readonly chunkingThreshold: number;
  readonly insteadOf: InsteadOf;
  readonly newId: NewId;
}

const name = 'web_browse';

/** Makes `web_browse`: a page as Markdown, a long one in pieces in the caller's working memory. */
export const webBrowseTool = (options: WebBrowseOptions): Tool => {
  const { reader, stashPage, chunkingThreshold, insteadOf, newId } = options;

  const shorten = async (body: string, url: string, context: CallContext): Promise<string> => {
    if (body.length <= chunkingThreshold || context.caller === 'operator') return body;
    // A client has no session of its own that others could not name, so its chunks lie under an unguessable one.
    const namespace = context.caller === 'client' ? `client/${newId()}` : context.namespace;
    const stashed = namespace === undefined ? undefined : await stashPage({ namespace, url, text: body });
    if (stashed) return describeStashed(stashed, body.length);
    const omitted = body.length - chunkingThreshold;
    const instead = insteadOf('fetch_url', context);
    const readOn =
      instead === undefined
        ? `Read on with fetch_url and start_index ${chunkingThreshold} for the next part.`
        : `To read on without fetch_url: ${instead}`;
    const notice = `[The page has ${body.length} chars; the first ${chunkingThreshold} follow, ${omitted} are omitted. ${readOn}]`;
    return `${notice}\n\n${truncateText(body, chunkingThreshold)}`;
  };

  return defineTool({
    name,
    source: 'web',
    category: 'web',
    description:
      'Reads a web page (also PDF, JSON and plain text) and returns its text as Markdown, after a line that names the source. A long page is split into chunks in working memory; the table that comes back names their keys. A status line means that the page itself could not be read.',
    annotations: { readOnlyHint: true, openWorldHint: true },
    requiresFollowUp: true,
    timeoutMs: 120_000,
    input: z.strictObject({
      url: z.string().trim().min(1, 'url must name the page').describe('Absolute http or https URL of the page.'),
      render: z
        .boolean()
        .optional()
        .describe('Run the page in a headless browser first; for pages that need JavaScript. Default false.'),
      mode: z
        .enum(readModes)
        .optional()
        .describe(
          'How much of the page: auto (default), full = with navigation and side bars, article = running text only.',
        ),
    }),
    execute: async ({ url, render = false, mode = 'auto' }, context) => {
      const page = await readOrExplain(reader, url, { mode, render, userAgent: browserAgent, signal: context.signal });
      const body = pageBody(page);
      const head = pageHead(name, page, { askedToRender: render });
      const text = `${head}\n\n${await shorten(body, page.url, context)}`;
      return { status: 'done', parts: [{ type: 'text', text }], meta: { url: page.url, statusCode: page.statusCode } };
    },
  });
};

const readOrExplain = async (reader: PageReader, url: string, how: ReadOptions): Promise<ReadResult> => {
  try {
    return await reader.read(url, how);
  } catch (error) {
    if (!GantryError.is(error) || error.code === 'cancelled') throw error;
    throw new GantryError(error.code, `Failed to fetch page: ${messageOf(error)}`, {
      details: error.details,
      retry: error.retry,
      cause: error,
    });
  }
};
