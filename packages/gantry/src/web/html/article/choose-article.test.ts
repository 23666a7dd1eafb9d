import { describe, expect, it } from 'vitest';
import type { ReadMode } from '../convert-page.ts';
import { convertPage } from '../convert-page.ts';

const convert = (html: string, mode: ReadMode = 'auto') => convertPage(html, { url: 'https://a.example/x', mode });
const sentence =
  'The harbour was rebuilt after the flood, and its walls, which are of granite, stand to this day, as everybody knows. ';
const prose = `<p>${sentence.repeat(2)}</p>`;
const declared = '<meta property="og:type" content="article">';
const teasers = `<div class="more"><a href="/1">TEASER of another page</a> <a href="/2">TEASER of one more</a></div>`;

describe('a page that does not say it is an article', () => {
  it('is read as one where it is running text and little else', () => {
    const { markdown, extent } = convert(
      `<div class="wrap"><div class="text">${prose.repeat(8)}${teasers}</div></div>`,
    );
    expect(extent).toBe('article');
    expect(markdown.match(/harbour/g)).toHaveLength(16);
    expect(markdown).not.toContain('TEASER');
  });

  it.each([
    ['code', '<pre>code</pre>'],
    ['code within its lines', '<p>Call <code>open()</code> first.</p>'],
    ['definitions', '<dl><dt>TERM</dt><dd>What it means.</dd></dl>'],
    ['a table', '<table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr></table>'],
  ])('is given whole where it holds %s, as reference pages do', (_what, structure) => {
    const page = `<div class="wrap"><div class="text">${prose.repeat(8)}${structure}${teasers}</div></div>`;
    expect(convert(page)).toMatchObject({ extent: 'page', markdown: expect.stringContaining('TEASER') });
  });

  it('is given whole where much of it is something else, or there is little of it', () => {
    const list = `<div class="list">${'<h3>One more thing that is listed here</h3>'.repeat(20)}</div>`;
    expect(convert(`<div class="text">${prose.repeat(8)}</div>${list}`).extent).toBe('page');
    expect(convert(`<div class="text">${prose.repeat(2)}</div>`).extent).toBe('page');
  });
});

describe('the article of a page', () => {
  it('is the one that the title of the page names, not the longest that was loaded below it', () => {
    const story = (headline: string, times: number): string =>
      `<div class="scroll"><article><h1>${headline}</h1><div class="body">${`<p>${headline} says: ${sentence.repeat(2)}</p>`.repeat(times)}</div></article></div>`;
    const page = `<title>The harbour is open again | The Daily</title>${declared}${story('The harbour is open again', 4)}${story('A mill has burnt down', 9)}`;
    const { markdown, extent } = convert(page);
    expect(extent).toBe('article');
    expect(markdown.match(/The harbour is open again says/g)).toHaveLength(4);
    expect(markdown).not.toContain('A mill has burnt down says');
    // A title that names none of them decides nothing.
    expect(convert(page.replace('The harbour is open again |', 'News |')).markdown).toContain('A mill has burnt down');
  });

  it('keeps its own teaser, which leads nowhere, and loses those of others', () => {
    const { markdown } = convert(
      `${declared}<div class="news"><h1>Title</h1><div class="teaser-text"><p>LEAD of the article itself, which says what it is about in one sentence.</p></div>
       <div class="body">${prose.repeat(5)}<div class="teaser"><p>OTHER article that <a href="/o">can be read here</a>.</p></div></div></div>`,
    );
    expect(markdown).toContain('LEAD');
    expect(markdown).not.toContain('OTHER');
  });

  it('keeps headings, lists, tables and code that stand between its parts', () => {
    const { markdown } = convert(
      `${declared}<div class="frame"><div class="text">${prose.repeat(6)}</div><h2>Second part</h2>
       <ul><li>POINT one</li><li>POINT two</li></ul><pre>CODE</pre><ul><li><a href="/1">LINK one of a list</a></li></ul>
       ${prose}<h2>After the end</h2></div>`,
    );
    expect(markdown.match(/harbour/g)).toHaveLength(14);
    expect(markdown).toContain('## Second part\n\n- POINT one\n- POINT two');
    expect(markdown).toContain('CODE');
    expect(markdown).not.toMatch(/LINK|After the end/);
  });
});
