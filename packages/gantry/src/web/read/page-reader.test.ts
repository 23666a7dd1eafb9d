import { describe, expect, it } from 'vitest';
import { GantryError } from '../../kernel/errors.ts';
import { silentLog } from '../../kernel/log.ts';
import type { ReadMode } from '../html/convert-page.ts';
import { convertPage } from '../html/convert-page.ts';
import type { PageConverter } from '../page-converter.ts';
import type { PageReaderOptions } from './page-reader.ts';
import { createPageReader } from './page-reader.ts';
import type { RenderPage } from './render-page.ts';

const prose = 'The harbour was rebuilt after the flood, and its walls stand to this day. '.repeat(5);
const page = `<title>T</title><main><p>${prose}</p></main>`;
const shell = '<div id="root"></div><script src="a.js"></script>';
const httpError = (status: number) => new GantryError('execution_failed', `HTTP ${status}.`, { details: { status } });

/** Converts on the spot, as the thread does. */
const converter: PageConverter = {
  convert: async ({ bytes, url, mode }) => {
    const text = Buffer.from(bytes).toString();
    return mode === 'raw'
      ? { kind: 'text', text }
      : { kind: 'page', page: convertPage(text, { url, mode: mode satisfies ReadMode }) };
  },
  [Symbol.asyncDispose]: async () => {},
};

const setUp = (answer: string | GantryError, options: Partial<PageReaderOptions> = {}) => {
  const fetched: string[] = [];
  const reader = createPageReader({
    fetchBody: async (url) => {
      fetched.push(url);
      if (typeof answer !== 'string') throw answer;
      return {
        url: `${url}landing`,
        statusCode: 200,
        type: 'text/html',
        kind: 'html',
        charset: undefined,
        bytes: Buffer.from(answer),
        truncated: false,
      };
    },
    readGithub: async () => undefined,
    converter,
    readPdf: () => Promise.reject(new Error('no PDF is expected')),
    shellMinContentChars: 200,
    log: silentLog,
    ...options,
  });
  return { reader, fetched };
};
const renderTo =
  (html: string): RenderPage =>
  async () => ({ url: 'https://a.example/rendered', status: 200, title: 'Rendered', html });
const failingRender: RenderPage = () => Promise.reject(new Error('no browser'));
const how = { mode: 'auto', userAgent: 'test' } as const;
const url = 'https://a.example/';

describe('createPageReader', () => {
  it('reads a page over HTTP and names where it was found', async () => {
    const { reader } = setUp(page);
    expect(await reader.read(url, how)).toMatchObject({
      url: `${url}landing`,
      how: 'http',
      title: 'T',
      status: undefined,
    });
  });

  it.each([
    ['without a browser', undefined, { how: 'http', status: 'js_required', rendering: 'unavailable' }],
    [
      'with a browser that helps',
      renderTo(page),
      { how: 'headless browser', status: undefined, url: 'https://a.example/rendered' },
    ],
    ['with a browser that gets no further', renderTo(shell), { status: 'js_required', rendering: 'no better' }],
    ['with a browser that fails', failingRender, { how: 'http', status: 'js_required', rendering: 'failed' }],
  ])('answers a shell %s', async (_what, render, result) => {
    expect(await setUp(shell, { render }).reader.read(url, how)).toMatchObject(result);
  });

  it.each([
    [403, renderTo(page), { how: 'headless browser' }],
    [503, renderTo(page), { how: 'headless browser' }],
  ])('renders a page that answers HTTP %s', async (status, render, result) => {
    expect(await setUp(httpError(status), { render }).reader.read(url, how)).toMatchObject(result);
  });

  it('fails with both problems when rendering fails too', async () => {
    await expect(setUp(httpError(403), { render: failingRender }).reader.read(url, how)).rejects.toThrow(
      /HTTP 403, and rendering the page failed too/,
    );
  });

  it('does not render without a browser, nor for other errors', async () => {
    await expect(setUp(httpError(403)).reader.read(url, how)).rejects.toThrow('HTTP 403.');
    let rendered = 0;
    const render: RenderPage = async () => {
      rendered += 1;
      return { url, status: 200, title: '', html: page };
    };
    await expect(setUp(httpError(404), { render }).reader.read(url, how)).rejects.toThrow('HTTP 404.');
    expect(rendered).toBe(0);
  });

  it('renders first when asked, without a plain request; without a browser it says so', async () => {
    const { reader, fetched } = setUp(page, { render: renderTo(page) });
    expect(await reader.read(url, { ...how, render: true })).toMatchObject({ how: 'headless browser' });
    expect(fetched).toEqual([]);
    expect(await setUp(page).reader.read(url, { ...how, render: true })).toMatchObject({
      how: 'http',
      rendering: 'unavailable',
    });
    expect(await setUp(page, { render: failingRender }).reader.read(url, { ...how, render: true })).toMatchObject({
      how: 'http',
      rendering: 'failed',
    });
  });

  it('asks the API for issues, and reads the page when it has nothing', async () => {
    const issue = 'https://github.com/o/r/issues/1#issuecomment-2';
    const readGithub = async () => ({ title: 'Issue #1', markdown: 'short' });
    const { reader, fetched } = setUp(page, { readGithub });
    expect(await reader.read(issue, how)).toMatchObject({
      how: 'site API',
      title: 'Issue #1',
      text: 'short',
      rendering: 'not tried',
    });
    expect(fetched).toEqual([]);
    expect(await setUp(page).reader.read(issue, how)).toMatchObject({ how: 'http' });
    expect(await setUp(page, { readGithub }).reader.read(issue, { ...how, mode: 'raw' })).toMatchObject({ text: page });
  });

  it('gives up at once when its caller does', async () => {
    const signal = AbortSignal.abort();
    const render: RenderPage = () => Promise.reject(new GantryError('cancelled', 'gone'));
    await expect(setUp(shell, { render }).reader.read(url, { ...how, signal })).rejects.toMatchObject({
      code: 'cancelled',
    });
  });
});
