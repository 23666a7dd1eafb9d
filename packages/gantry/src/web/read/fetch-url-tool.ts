import * as z from 'zod';
import type { Clock } from '../../kernel/clock.ts';
import { cutIndex } from '../../text/cut.ts';
import { defineTool } from '../../tool/define-tool.ts';
import type { Tool } from '../../tool/executor.ts';
import type { PageReader, ReadOptions, ReadResult } from './page-reader.ts';
import { pageBody, pageHead } from './page-text.ts';
import { readModes } from './read-modes.ts';

/** What the tool is made of. */
export interface FetchUrlOptions {
  readonly read: PageReader['read'];
  /** Identifies this product to servers. */
  readonly userAgent: string;
  /** Default and most characters of one result. */
  readonly maxContentLength: number;
  readonly clock: Clock;
}

const name = 'fetch_url';

/** Makes `fetch_url`: a page as Markdown, section by section. */
export const fetchUrlTool = (options: FetchUrlOptions): Tool => {
  const { read, userAgent, maxContentLength, clock } = options;
  return defineTool({
    name,
    source: 'web',
    category: 'web',
    family: 'url_fetcher',
    description:
      'Fetches a URL and returns its text as Markdown, after a line that names the source. Long texts come in sections: pass start_index as the notice says to read on.',
    annotations: { readOnlyHint: true, openWorldHint: true },
    requires: { providers: { deny: ['novelai'] } },
    requiresFollowUp: true,
    timeoutMs: 120_000,
    input: z.strictObject({
      url: z.string().trim().min(1, 'url must name the page').describe('Absolute http or https URL.'),
      max_length: z
        .number()
        .int()
        .positive()
        .optional()
        .describe(`Most characters to return; default and most ${maxContentLength}.`),
      start_index: z.number().int().nonnegative().optional().describe('First character to return; default 0.'),
      raw: z.boolean().optional().describe('Return the source text instead of Markdown. Default false.'),
      mode: z
        .enum(readModes)
        .optional()
        .describe('How much of a page: auto (default), full, or article = running text only.'),
    }),
    execute: async ({ url, max_length = maxContentLength, start_index = 0, raw = false, mode = 'auto' }, context) => {
      const startedMs = clock.elapsedMs();
      const how: ReadOptions = { mode: raw ? 'raw' : mode, userAgent, sizeFirst: true, signal: context.signal };
      context.onProgress?.({ progress: 0, message: `Reading ${hostOf(url)}` });
      const page = await read(url, how);
      const body = raw ? page.text : pageBody(page);
      const section = sectionOf(body, start_index, Math.min(max_length, maxContentLength));
      const text = `${pageHead(name, page, { askedToRender: false })}\n${describeSection(section, body, page)}`;
      return {
        status: 'done',
        parts: [{ type: 'text', text }],
        meta: {
          url: page.url,
          statusCode: page.statusCode,
          contentLength: body.length,
          returnedContentLength: section.end - section.start,
          startIndex: section.start,
          nextIndex: section.end < body.length ? section.end : null,
          executionTime: Math.round(clock.elapsedMs() - startedMs),
        },
      };
    },
  });
};

interface Section {
  readonly start: number;
  readonly end: number;
}

const sectionOf = (body: string, startIndex: number, maxChars: number): Section => {
  const start = cutIndex(body, startIndex);
  const cut = cutIndex(body, start + maxChars);
  // One character of two units is longer than a limit of one, and reading has to go on.
  return { start, end: cut > start || start >= body.length ? cut : Math.min(body.length, start + 2) };
};

const describeSection = ({ start, end }: Section, body: string, { title, text }: ReadResult): string => {
  if (text.trim() === '' && title === '') return '\nThe page holds no readable content.';
  if (start >= body.length)
    return `\nAll sections have been read: the text has ${body.length} chars, and start_index ${start} is at its end.`;
  if (start === 0 && end === body.length) return `\n${body}`;
  const next =
    end < body.length ? `read on with start_index ${end}; next section from there` : 'this is the last section';
  const hint = end < body.length ? `\n\n[Cut here; next start_index: ${end}]` : '';
  return `[Characters ${start} to ${end} of ${body.length}: ${next}.]\n\n${body.slice(start, end)}${hint}`;
};

const hostOf = (url: string): string => URL.parse(url)?.hostname ?? 'the page';
