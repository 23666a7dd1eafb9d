import { describe, expect, it } from 'vitest';
import { GantryError } from '../../kernel/errors.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { makeInvoker, registryOf } from '../../testing/make-invoker.ts';
import type { CallContext } from '../../tool/context.ts';
import { outcomeText } from '../../tool/outcome-text.ts';
import { providerAllowed } from '../../toolset/availability.ts';
import type { InsteadOf } from '../instead-of.ts';
import { fetchUrlTool } from './fetch-url-tool.ts';
import type { PageReader, ReadOptions, ReadResult } from './page-reader.ts';
import type { StashPage } from './stash-page.ts';
import { webBrowseTool } from './web-browse-tool.ts';

const result: ReadResult = {
  url: 'https://a.example/',
  how: 'http',
  title: '',
  text: 'Hello.',
  rendering: 'not tried',
  droppedShare: 0,
  statusCode: 200,
};

const setUp = (page: Partial<ReadResult> | GantryError = {}, insteadOf: InsteadOf = () => undefined) => {
  const asked: ReadOptions[] = [];
  const stashed: Parameters<StashPage>[0][] = [];
  const reader: PageReader = {
    read: async (_url, options) => {
      asked.push(options);
      if (page instanceof GantryError) throw page;
      return { ...result, ...page };
    },
  };
  const stashPage: StashPage = async (one) => {
    stashed.push(one);
    return {
      indexKey: `${one.namespace}/web-x-index`,
      chunks: [{ heading: 'H', key: `${one.namespace}/web-x-chunk0` }],
    };
  };
  const invoker = makeInvoker(
    registryOf(
      webBrowseTool({ reader, stashPage, chunkingThreshold: 8000, insteadOf, newId: () => 'id-1' }),
      fetchUrlTool({ read: reader.read, userAgent: 'Gantry', maxContentLength: 50_000, clock: fakeClock() }),
    ),
  );
  const call = async (name: string, args: object, context: Partial<CallContext> = {}) => {
    const outcome = await invoker.invoke({ name, arguments: args as never }, { caller: 'model', ...context });
    return { outcome, failed: outcome.status === 'failed', text: outcomeText(outcome) };
  };
  return { call, asked, stashed };
};
const browse = { url: 'https://a.example/' };

describe('web_browse', () => {
  it('gives source, title and text', async () => {
    const { call, asked } = setUp({ title: 'A page', extent: 'page', droppedShare: 0.25 });
    expect((await call('web_browse', browse)).text).toBe(
      'Source: https://a.example/ (via http), page without its frame: 25 % of the text left out\n\n# A page\n\nHello.',
    );
    expect(asked[0]).toMatchObject({
      mode: 'auto',
      render: false,
      userAgent: expect.stringContaining('Mozilla') as string,
    });
  });

  it('does not repeat a title that the text begins with', async () => {
    expect((await setUp({ title: 'A', text: '# A\n\nb' }).call('web_browse', browse)).text).toBe(
      'Source: https://a.example/ (via http)\n\n# A\n\nb',
    );
  });

  it('puts the status and what is missing before the text', async () => {
    const { call } = setUp({ status: 'js_required', rendering: 'unavailable', stoppedAtBytes: 5_000_000 });
    const { failed, text } = await call('web_browse', browse);
    expect(failed).toBe(false);
    expect(text.split('\n')[1]).toMatch(/^\[web_browse status: js_required\].*not available/);
    expect(text.split('\n')[2]).toContain('stopped at 5000000 bytes');
  });

  it('says that rendering is not available to who asked for it', async () => {
    expect((await setUp({ rendering: 'unavailable' }).call('web_browse', { ...browse, render: true })).text).toContain(
      'Headless rendering is not available',
    );
  });

  it('gives 8,000 characters whole and keeps 8,001 in pieces', async () => {
    const context = { namespace: 'session/1' };
    const whole = setUp({ text: 'x'.repeat(8000) });
    expect((await whole.call('web_browse', browse, context)).text).toContain('x'.repeat(8000));
    expect(whole.stashed).toEqual([]);
    const long = setUp({ text: 'x'.repeat(8001) });
    const { text } = await long.call('web_browse', browse, context);
    expect(text).toContain('`session/1/web-x-index`');
    expect(text).not.toContain('xxx');
    expect(long.stashed[0]).toMatchObject({ namespace: 'session/1', url: 'https://a.example/' });
  });

  it('keeps the pieces of a client where nobody else can guess, and gives an operator everything', async () => {
    const { call, stashed } = setUp({ text: 'x'.repeat(9000) });
    await call('web_browse', browse, { caller: 'client' });
    expect(stashed[0]?.namespace).toBe('client/id-1');
    expect((await call('web_browse', browse, { caller: 'operator' })).text).toContain('x'.repeat(9000));
  });

  it('cuts a long page with a notice before it where there is no session', async () => {
    const { text } = await setUp({ text: 'x'.repeat(9000) }).call('web_browse', browse);
    expect(text.indexOf('1000 are omitted')).toBeGreaterThan(0);
    expect(text.indexOf('1000 are omitted')).toBeLessThan(text.indexOf('xxx'));
  });

  it('says how to read on where something else does the work of fetch_url', async () => {
    const { call } = setUp({ text: 'x'.repeat(9000) }, (name) => `Server "r" does ${name} now: call r__get.`);
    const { text } = await call('web_browse', browse);
    expect(text).toContain('To read on without fetch_url: Server "r" does fetch_url now: call r__get.]');
    expect(text).not.toContain('start_index');
  });

  it('says what failed, keeping whether to try again', async () => {
    const { outcome, text } = await setUp(new GantryError('execution_failed', 'HTTP 500.', { retry: 'later' })).call(
      'web_browse',
      browse,
    );
    expect(text).toBe('Failed to fetch page: HTTP 500.');
    expect(outcome).toMatchObject({ failure: { retry: 'later' } });
  });

  it('needs a URL', async () => {
    const { failed, text } = await setUp().call('web_browse', {});
    expect([failed, text.includes('url')]).toEqual([true, true]);
  });
});

describe('fetch_url', () => {
  it.each(['novelai', 'NovelAI'])('is not offered to models of %s', (provider) => {
    const { registration } = fetchUrlTool({
      read: async () => result,
      userAgent: 'Gantry',
      maxContentLength: 50_000,
      clock: fakeClock(),
    });
    expect(providerAllowed(registration, { caller: 'model', model: { provider } })).toBe(false);
    expect(providerAllowed(registration, { caller: 'model', model: { provider: 'openai' } })).toBe(true);
  });

  it('gives a short text whole, once, with its facts beside it', async () => {
    const { call, asked } = setUp();
    const { outcome, text } = await call('fetch_url', browse);
    expect(text).toBe('Source: https://a.example/ (via http)\n\nHello.');
    expect(outcome).toMatchObject({
      parts: [{ type: 'text' }],
      meta: {
        url: 'https://a.example/',
        statusCode: 200,
        contentLength: 6,
        returnedContentLength: 6,
        startIndex: 0,
        nextIndex: null,
      },
    });
    expect(asked[0]).toMatchObject({ sizeFirst: true, userAgent: 'Gantry' });
  });

  it('gives a long text in sections that join without a gap', async () => {
    const text = Array.from({ length: 1000 }, (_, index) => `w${index} `).join('');
    const { call } = setUp({ text });
    let joined = '';
    for (let start: unknown = 0; typeof start === 'number';) {
      const section = await call('fetch_url', { ...browse, max_length: 1000, start_index: start });
      const { meta } = section.outcome as unknown as { meta: { nextIndex: number | null } };
      joined += text.slice(start, meta.nextIndex ?? undefined);
      expect(section.text).toContain(`\n\n${text.slice(start, meta.nextIndex ?? undefined)}`);
      expect(section.text.split('\n')[1]).toContain(`of ${text.length}`);
      start = meta.nextIndex;
    }
    expect(joined).toBe(text);
  });

  it('halves no character', async () => {
    const { call } = setUp({ text: '😀😀' });
    const { outcome } = await call('fetch_url', { ...browse, max_length: 1 });
    expect(outcome).toMatchObject({ meta: { returnedContentLength: 2, nextIndex: 2 } });
  });

  it('gives no more than the limit, whatever is asked for', async () => {
    const { outcome } = await setUp({ text: 'x'.repeat(60_000) }).call('fetch_url', { ...browse, max_length: 60_000 });
    expect(outcome).toMatchObject({ meta: { returnedContentLength: 50_000 } });
  });

  it('says so at the end of a text and for an empty page, without failing', async () => {
    const end = await setUp().call('fetch_url', { ...browse, start_index: 100 });
    expect([end.failed, end.text.includes('All sections have been read')]).toEqual([false, true]);
    const empty = await setUp({ text: '' }).call('fetch_url', browse);
    expect([empty.failed, empty.text.includes('no readable content')]).toEqual([false, true]);
  });

  it('passes on that the source is wanted', async () => {
    const { call, asked } = setUp({ text: '<p>', title: '' });
    expect((await call('fetch_url', { ...browse, raw: true })).text).toContain('<p>');
    expect(asked[0]?.mode).toBe('raw');
  });

  it.each([
    [{ url: {} }, 'url'],
    [{ ...browse, max_length: 0 }, 'max_length'],
    [{ ...browse, start_index: -1 }, 'start_index'],
    [{ ...browse, raw: 'perhaps' }, 'raw'],
  ])('names the argument that is wrong in %j', async (args, name) => {
    const { failed, text } = await setUp().call('fetch_url', args);
    expect([failed, text.includes(name)]).toEqual([true, true]);
  });
});
