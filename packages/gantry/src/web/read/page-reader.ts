import { GantryError, messageOf } from '../../kernel/errors.ts';
import type { Log } from '../../kernel/log.ts';
import type { ConvertedPage, PageSignals, ReadMode } from '../html/convert-page.ts';
import type { FetchBody, FetchedBody } from './fetch-body.ts';
import type { GithubItem } from './github-page.ts';
import { githubItemOf } from './github-page.ts';
import type { PageConverter } from '../page-converter.ts';
import type { ReadPdf } from '../read-pdf.ts';
import { pdfMarkdown } from '../read-pdf.ts';
import type { RenderPage } from './render-page.ts';
import type { RenderingTried, ShellStatus } from './shell-status.ts';
import { shellStatusOf } from './shell-status.ts';

/** A page that was read, or a shell that stood in for it. */
export interface ReadResult {
  /** Where it was found, after redirects. */
  readonly url: string;
  readonly how: 'http' | 'headless browser' | 'site API';
  readonly title: string;
  readonly text: string;
  /** Set when what came is not the page. */
  readonly status?: ShellStatus | undefined;
  readonly rendering: RenderingTried;
  /** Set for pages of HTML: how much of the page the text is. */
  readonly extent?: ConvertedPage['extent'] | undefined;
  /** Share of the visible text that was left out, 0 to 1. */
  readonly droppedShare: number;
  /** The download was stopped at this many bytes. */
  readonly stoppedAtBytes?: number | undefined;
  readonly statusCode: number;
}

/** How one page is read. */
export interface ReadOptions {
  readonly mode: ReadMode | 'raw';
  readonly userAgent: string;
  /** Use the headless browser first. */
  readonly render?: boolean | undefined;
  /** Ask for the size first and fetch nothing that is too large. */
  readonly sizeFirst?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Reads pages, whatever they are made of. */
export interface PageReader {
  /** @throws {GantryError} when nothing came that could be read. */
  read(url: string, options: ReadOptions): Promise<ReadResult>;
}

/** What a reader is made of. */
export interface PageReaderOptions {
  readonly fetchBody: FetchBody;
  /** Asks GitHub's API; gives the item as a page, or undefined when the ordinary way should be tried. */
  readonly readGithub: (
    item: GithubItem,
    signal: AbortSignal | undefined,
  ) => Promise<{ title: string; markdown: string } | undefined>;
  readonly converter: PageConverter;
  readonly readPdf: ReadPdf;
  readonly shellMinContentChars: number;
  /** Absent where there is no headless browser. */
  readonly render?: RenderPage | undefined;
  readonly log: Log;
}

/** Makes a reader: site API where there is one, else plain HTTP, else the headless browser for what turned out to be a shell. */
export const createPageReader = (options: PageReaderOptions): PageReader => {
  const { fetchBody, readGithub, converter, readPdf, shellMinContentChars, render, log } = options;

  const toResult = async (body: FetchedBody, { mode, signal }: ReadOptions): Promise<ReadResult> => {
    const { url, kind, bytes, charset, statusCode } = body;
    const common = { url, how: 'http', rendering: 'not tried', droppedShare: 0, statusCode } as const;
    const stoppedAtBytes = body.truncated ? bytes.byteLength : undefined;
    if (kind === 'pdf') {
      const pdf = await readPdf(bytes, { signal });
      return { ...common, title: pdf.title, text: pdfMarkdown(pdf), stoppedAtBytes };
    }
    const converted = await converter.convert({ bytes, kind, charset, url, mode }, { signal });
    if (converted.kind === 'text') return { ...common, title: '', text: converted.text, stoppedAtBytes };
    const { page } = converted;
    return { ...common, ...pageFacts(page), status: statusOf(page.signals), stoppedAtBytes };
  };

  const statusOf = (signals: PageSignals): ShellStatus | undefined => shellStatusOf(signals, shellMinContentChars);

  const plain = async (url: string, how: ReadOptions): Promise<ReadResult> => toResult(await fetchBody(url, how), how);

  /** The page as the browser shows it; undefined when rendering failed, which is logged. */
  const rendered = async (url: string, { mode, signal }: ReadOptions): Promise<ReadResult | undefined> => {
    if (!render) return undefined;
    try {
      const page = await render(url, { signal });
      if (page.status >= 400) throw new GantryError('execution_failed', `the browser got HTTP ${page.status}`);
      const bytes = Buffer.from(page.html);
      const result = await toResult(
        {
          url: page.url,
          statusCode: page.status,
          type: 'text/html',
          kind: 'html',
          charset: 'utf-8',
          bytes,
          truncated: false,
        },
        { mode, signal, userAgent: '' },
      );
      return { ...result, how: 'headless browser', title: result.title === '' ? page.title : result.title };
    } catch (error) {
      if (signal?.aborted) throw error;
      log.warn({ url, reason: messageOf(error) }, 'a page could not be rendered');
      return undefined;
    }
  };

  const withRendering = async (url: string, how: ReadOptions): Promise<ReadResult> => {
    let answered: ReadResult;
    try {
      answered = await plain(url, how);
    } catch (error) {
      const status = GantryError.is(error) ? error.details['status'] : undefined;
      if (!render || (status !== 403 && status !== 503)) throw error;
      const page = await rendered(url, how);
      if (page) return page.status ? { ...page, rendering: 'no better' } : page;
      throw new GantryError('execution_failed', `HTTP ${status}, and rendering the page failed too.`, {
        details: { status },
        cause: error,
      });
    }
    if (!answered.status) return answered;
    if (!render) return { ...answered, rendering: 'unavailable' };
    const page = await rendered(url, how);
    if (!page) return { ...answered, rendering: 'failed' };
    if (!page.status) return page;
    return { ...(page.text.length > answered.text.length ? page : answered), rendering: 'no better' };
  };

  return {
    read: async (url, how) => {
      const item = how.mode === 'raw' ? undefined : githubItemOf(url);
      const page = item && (await readGithub(item, how.signal));
      if (page) {
        const { title, markdown } = page;
        return {
          url,
          how: 'site API',
          title,
          text: markdown,
          rendering: 'not tried',
          droppedShare: 0,
          statusCode: 200,
        };
      }
      if (!how.render || how.mode === 'raw') return how.mode === 'raw' ? plain(url, how) : withRendering(url, how);
      const shown = await rendered(url, how);
      if (shown) return shown.status ? { ...shown, rendering: 'no better' } : shown;
      return { ...(await plain(url, how)), rendering: render ? 'failed' : 'unavailable' };
    },
  };
};

const pageFacts = ({ title, markdown, extent, droppedShare }: ConvertedPage) => ({
  title,
  text: markdown,
  extent,
  droppedShare,
});
