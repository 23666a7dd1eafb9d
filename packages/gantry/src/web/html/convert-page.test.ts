import { describe, expect, it } from 'vitest';
import type { ReadMode } from './convert-page.ts';
import { convertPage } from './convert-page.ts';

const convert = (html: string, mode: ReadMode = 'auto') => convertPage(html, { url: 'https://a.example/x', mode });
const prose =
  'The harbour was rebuilt after the flood, and its walls, which are of granite, stand to this day, as everybody knows. ';

describe('convertPage', () => {
  it('keeps what main, article and section hold, and leaves out the frame of the page', () => {
    const { markdown, title, extent } = convert(
      `<title> The  page </title><nav>NAV</nav><header><p>HEAD</p></header><aside>ASIDE</aside>
       <main><section><p>${prose}</p></section><article>${prose}<footer>BY</footer></article></main>
       <div class="sidebar">SIDE</div><footer>FOOT</footer><script>SCRIPT</script><style>STYLE</style>`,
    );
    expect(title).toBe('The page');
    expect(extent).toBe('page');
    expect(markdown).toContain('harbour');
    expect(markdown).not.toMatch(/NAV|ASIDE|SIDE|FOOT|SCRIPT|STYLE/);
  });

  it('gives everything that is visible in full mode', () => {
    const { markdown, extent } = convert(`<nav>NAV</nav><main><p>${prose}</p></main><footer>FOOT</footer>`, 'full');
    expect(extent).toBe('full');
    expect(markdown).toContain('NAV');
    expect(markdown).toContain('FOOT');
  });

  it.each([
    ['hidden', '<p hidden>SECRET</p>'],
    ['aria-hidden', '<p aria-hidden="true">SECRET</p>'],
    ['not displayed', '<p style="color: red; display : none">SECRET</p>'],
    ['invisible', '<p style="visibility:hidden">SECRET</p>'],
    ['of no size', '<p style="font-size:0">SECRET</p>'],
    ['in a template', '<template>SECRET</template>'],
    ['in a comment', '<!-- SECRET -->'],
    ['in a closed dialog', '<dialog>SECRET</dialog>'],
  ])('leaves out text that is %s, in every mode', (_how, hidden) => {
    for (const mode of ['auto', 'full', 'article'] as const)
      expect(convert(`<main><p>${prose}</p>${hidden}</main>`, mode).markdown).not.toContain('SECRET');
  });

  it('keeps text of no size that only looks like it', () => {
    expect(convert('<p style="font-size:0.9em">SMALL</p>').markdown).toBe('SMALL');
  });

  it.each([
    ['<section id="file-menu-shell-and-editor"><h3>File menu (Shell and Editor)</h3>SECTION</section>'],
    ['<div class="section" id="sharing-state"><h3>Sharing state</h3>SECTION</div>'],
    ['<section class="level2" id="credits-1"><h2>Credits</h2>SECTION</section>'],
  ])('keeps a section whose id only repeats its heading: %s', (section) => {
    expect(convert(`<main><p>${prose.repeat(9)}</p>${section}</main>`).markdown).toContain('SECTION');
  });

  it('leaves out what is named as part of the frame for another reason', () => {
    const { markdown } = convert(
      `<main><p>${prose.repeat(9)}</p><div class="newsletter" id="news"><h3>News</h3>LETTER</div><div id="sharing"><h3>Pass it on</h3>SHARE</div></main>`,
    );
    expect(markdown).not.toMatch(/LETTER|SHARE/);
  });

  it('keeps examples that stand beside the text', () => {
    const aside = '<aside class="sidebar"><p>Hello world!</p><pre>print()</pre></aside>';
    expect(convert(`<main><p>${prose.repeat(9)}</p>${aside}</main>`).markdown).toContain('print()');
  });

  it('leaves out a frame that is longer than the page, where the page marks its main part', () => {
    const frame = (name: string): string =>
      `<${name} class="footer">${'COPYRIGHT of the maker. '.repeat(40)}</${name}>`;
    for (const name of ['footer', 'div'])
      expect(convert(`<main><p>${prose}</p></main>${frame(name)}`).markdown).toBe(prose.trim());
    // What marks a main part without text has not been filled yet.
    expect(convert(`<main>Loading</main>${frame('footer')}`).markdown).toContain('COPYRIGHT');
  });

  it('reads characters without the aids that stand beside them, and gives those in full mode', () => {
    const page = '<main><p><ruby>漢字<rp>(</rp><rt>かんじ</rt><rp>)</rp></ruby>を読む</p></main>';
    expect(convert(page).markdown).toBe('漢字を読む');
    expect(convert(page, 'full').markdown).toBe('漢字(かんじ)を読む');
  });

  it('keeps the page when its frame holds it', () => {
    expect(convert(`<div class="sidebar"><main><p>${prose}</p></main></div>`).markdown).toContain('harbour');
    expect(convert(`<aside><p>${prose}</p></aside>`).markdown).toContain('harbour');
    expect(
      convert(`<main><p>${prose}</p><aside class="admonition note"><p>NOTE</p></aside></main>`).markdown,
    ).toContain('NOTE');
  });

  it.each([
    ['by the name of its maker', `<div id="onetrust-banner-sdk"><p>We use things.</p><button>OK</button></div>`],
    [
      'by what it says and offers',
      `<div><div><p>We use cookies to improve your visit. Our partners too.</p><button>Accept all</button></div></div>`,
    ],
  ])('leaves out a consent banner known %s', (_how, banner) => {
    const { markdown, signals } = convert(`${banner}<div><p>${prose}</p></div>`);
    expect(markdown).toBe(prose.trim());
    expect(signals.consent).toBe(true);
  });

  it('reads what a page keeps for readers without scripts when that is all there is', () => {
    expect(convert(`<noscript><p>${prose}</p></noscript><p>x</p>`).markdown).toContain('harbour');
    expect(convert(`<noscript><p>ASK</p></noscript><p>${prose}</p>`).markdown).not.toContain('ASK');
  });

  it('keeps an article about cookies', () => {
    const { markdown } = convert(
      `<main><h1>Cookies</h1><p>${'Cookies store consent. '.repeat(30)}</p><button>Accept</button></main>`,
    );
    expect(markdown).toContain('Cookies store consent.');
  });

  it('gives the running text of a page that declares itself an article', () => {
    const { markdown, extent, droppedShare } = convert(
      `<meta property="og:type" content="article"><div class="wrap"><div class="story">${`<p>${prose}</p>`.repeat(6)}
       <div class="related"><ul><li><a href="/1">TEASER one of many</a></li><li><a href="/2">TEASER two of many</a></li></ul></div></div>
       <div class="list"><ul>${'<li><a href="/3">OTHER story of the day</a></li>'.repeat(20)}</ul></div></div>`,
    );
    expect(extent).toBe('article');
    expect(markdown.match(/harbour/g)).toHaveLength(6);
    expect(markdown).not.toMatch(/TEASER|OTHER/);
    expect(droppedShare).toBeGreaterThan(0.2);
  });

  it('puts an article together that stands in pieces', () => {
    const piece = `<div class="grid"><div class="body">${`<p>${prose}</p>`.repeat(3)}</div></div>`;
    const { markdown } = convert(`<article>${piece}<figure>pic</figure>${piece}${piece}</article>`, 'article');
    expect(markdown.match(/harbour/g)).toHaveLength(9);
  });

  it('takes the base element for links, itself relative to the page', () => {
    const { markdown } = convert('<base href="/v2/"><p><a href="x">t</a></p>');
    expect(markdown).toBe('[t](https://a.example/v2/x)');
  });

  it.each([
    [
      'a loader with an empty root',
      '<div id="root"></div><script src="a.js"></script>',
      { loader: true, readableChars: 0 },
    ],
    ['a page that asks for JavaScript', '<noscript>Please enable JavaScript.</noscript>', { loader: true }],
    ['a blank page', '<body></body>', { loader: false, consent: false, readableChars: 0, scripts: 0 }],
    ['prose', `<p>${prose}</p>`, { loader: false, readableChars: prose.trim().length }],
  ])('says what tells a page from a shell: %s', (_what, html, signals) => {
    expect(convert(html).signals).toMatchObject(signals);
  });
});

describe('convertPage with hostile pages', () => {
  it.each([
    ['deep nesting', '<div>'.repeat(200_000) + 'TEXT', 'TEXT'],
    ['unclosed tags', '<p>a<b>b<i>c'.repeat(50_000) + 'TEXT', 'TEXT'],
    ['deep lists', '<ul><li>a'.repeat(20_000) + 'TEXT', 'TEXT'],
    ['deep quotations', '<blockquote>a'.repeat(20_000) + 'TEXT', 'TEXT'],
    ['many attributes', `<p ${'a="b" '.repeat(200_000)}>TEXT</p>`, 'TEXT'],
    ['a million line ends in code', `<pre>${'\n'.repeat(1_000_000)}TEXT${'\n'.repeat(1_000_000)}</pre>`, 'TEXT'],
    ['an endless comment', `TEXT<!--${'-'.repeat(1_000_000)}`, 'TEXT'],
    ['many rows', `<table>${'<tr><td>a<td>b'.repeat(20_000)}<tr><td>TEXT<td>x</table>`, 'TEXT'],
    ['wide spans', `<table>${`<tr>${'<td colspan=1000 rowspan=1000>x'.repeat(50)}`.repeat(200)}</table>TEXT`, 'TEXT'],
    ['banners in banners', '<div>cookie <button>accept</button>'.repeat(2_000) + 'TEXT', ''],
    ['open angle brackets', `${'<'.repeat(500_000)}TEXT`, 'TEXT'],
  ])('ends and loses no text: %s', (_what, html, text) => {
    expect(convert(html).markdown).toContain(text);
  });

  it('reads the rest of a page that is too deep without its structure', () => {
    const { markdown, complete } = convert(`${'<div>'.repeat(5_000)}<p>END <script>NO</script>of <b>it</b></p>`);
    expect(complete).toBe(false);
    expect(markdown).toMatch(/END +of +it/);
    expect(markdown).not.toContain('NO');
  });
});
