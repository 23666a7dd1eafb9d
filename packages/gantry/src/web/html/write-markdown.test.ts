import { describe, expect, it } from 'vitest';
import { baseOf, createLinkResolver } from './links.ts';
import { parsePage } from './page-tree.ts';
import { writeMarkdown } from './write-markdown.ts';

const toMarkdown = (html: string, url = 'https://a.example/docs/page'): string =>
  writeMarkdown(parsePage(html).root, { resolveLink: createLinkResolver(baseOf(url, undefined)) });

describe('writeMarkdown', () => {
  it.each([
    ['headings', '<h1>One</h1><h3>Three <b>x</b></h3>', '# One\n\n### Three **x**'],
    ['paragraphs and line breaks', '<p>a\n b</p><p>c<br>d</p>', 'a b\n\nc\nd'],
    ['text beside blocks', 'a<p>b</p>c', 'a\n\nb\n\nc'],
    ['emphasis with the spaces outside', '<p>a<b> b </b>c <em>d</em></p>', 'a **b** c *d*'],
    ['code spans with backticks', '<p><code>a`b</code> <code>`</code></p>', '``a`b`` `` ` ``'],
    ['unknown elements by looking through them', '<x-card><x-t>hello</x-t> <p>there</p></x-card>', 'hello\n\nthere'],
    ['a list', '<ul><li>a<li>b <ul><li>c</ul></ul>', '- a\n- b\n  - c'],
    ['an ordered list from its start', '<ol start=3><li>a</li><li>b</li></ol>', '3. a\n4. b'],
    ['a list of several paragraphs', '<ul><li><p>a</p><p>b</p></li><li>c</li></ul>', '- a\n\n  b\n\n- c'],
    ['definitions', '<dl><dt>f()</dt><dd><p>does it</p></dd></dl>', '- f()\n\n  does it'],
    ['a quotation', '<blockquote><p>a</p><p>b</p></blockquote>', '> a\n>\n> b'],
    ['a rule', '<p>a</p><hr><p>b</p>', 'a\n\n---\n\nb'],
    [
      'links, absolute',
      '<a href="../x">t</a> <a href="/r?a=1">u</a>',
      '[t](https://a.example/x) [u](https://a.example/r?a=1)',
    ],
    ['links within the page as they are', '<a href="#top">t</a>', '[t](#top)'],
    ['links to scripts and data as text', '<a href="javascript:x()">t</a> <a href="data:text/html,x">u</a>', 't u'],
    ['parentheses in targets', '<a href="/a_(b)">t</a>', '[t](https://a.example/a_%28b%29)'],
    ['no permalink signs', '<h2>Title<a href="#title">¶</a></h2>', '## Title'],
    ['a link around a block', '<a href="/x"><h3>Head</h3><p>text</p></a>', '### [Head](https://a.example/x)\n\ntext'],
    [
      'images by their text',
      '<img src="i.png" alt="pic"><img src="p.gif" width="1">',
      '![pic](https://a.example/docs/i.png)',
    ],
    ['images without a usable address as text', '<img src="data:image/png;base64,AA" alt="pic">', 'pic'],
    ['a power', '<p>10<sup>6</sup></p>', '10^6'],
    ['tags that are text', '<p>use &lt;br&gt; here, 1 &lt; 2</p>', 'use \\<br> here, 1 < 2'],
    [
      'text that looks like Markdown blocks',
      '<p># no heading</p><p>1. no list</p><p>- no item</p>',
      '\\# no heading\n\n1\\. no list\n\n\\- no item',
    ],
    ['formulas in TeX', '<math alttext="x^2"><mi>x</mi></math>', '$x^2$'],
  ])('writes %s', (_what, html, markdown) => {
    expect(toMarkdown(html)).toBe(markdown);
  });

  it.each([
    ['byte for byte', '<pre>\n  a\n\n\tb</pre>', '```\n  a\n\n\tb\n```'],
    ['with its language', '<pre><code class="hljs language-ts">const a = 1;</code></pre>', '```ts\nconst a = 1;\n```'],
    [
      'with the language of its wrapper',
      '<div class="highlight-python3 notranslate"><div class="highlight"><pre><span></span>x</pre></div></div>',
      '```python3\nx\n```',
    ],
    ['in a fence longer than the one inside', '<pre>``` x</pre>', '````\n``` x\n````'],
    ['line by line', '<pre><div>a</div><div>b</div>c<br>d</pre>', '```\na\nb\nc\nd\n```'],
    ['without line numbers', '<pre><span class="lineno">1</span>a</pre>', '```\na\n```'],
    ['inside a list', '<ul><li>a<pre>b\nc</pre></li></ul>', '- a\n\n  ```\n  b\n  c\n  ```'],
  ])('writes code %s', (_what, html, markdown) => {
    expect(toMarkdown(html)).toBe(markdown);
  });

  it.each([
    [
      'as rows of one line',
      '<table><tr><th>a<th>b<tr><td><p>1|2</p><p>3</p><td>x<br>y</table>',
      '| a | b |\n| --- | --- |\n| 1\\|2<br>3 | x<br>y |',
    ],
    [
      'with empty and spanning cells',
      '<table><tr><td>a<td>b<td>c<tr><td colspan=2>d<td></table>',
      '| a | b | c |\n| --- | --- | --- |\n| d |  |  |',
    ],
    [
      'with cells that span rows',
      '<table><tr><td rowspan=2>a<td>b<tr><td>c</table>',
      '| a | b |\n| --- | --- |\n|  | c |',
    ],
    [
      'with code and lists in cells',
      '<table><tr><th>a<th>b<tr><td><pre>x\ny</pre><td><ul><li>p<li>q</ul></table>',
      '| a | b |\n| --- | --- |\n| `x`<br>`y` | - p<br>- q |',
    ],
    ['that only arrange the page as blocks', '<table role="presentation"><tr><td>a<td><p>b</table>', 'a\n\nb'],
    ['of one column as blocks', '<table><tr><td>a<tr><td>b</table>', 'a\n\nb'],
    [
      'of one row that holds code as blocks',
      '<table><tr><td>Note<td><pre>x\ny</pre></table>',
      'Note\n\n```\nx\ny\n```',
    ],
    ['of one column with a heading as a table', '<table><tr><th>a<tr><td>b</table>', '| a |\n| --- |\n| b |'],
    [
      'around tables as blocks',
      '<table><tr><td>n<td><table><tr><td>a<td>b</table></table>',
      'n\n\n| a | b |\n| --- | --- |',
    ],
  ])('writes tables %s', (_what, html, markdown) => {
    expect(toMarkdown(html)).toBe(markdown);
  });
});
