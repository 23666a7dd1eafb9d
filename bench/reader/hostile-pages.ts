/** Pages that are made to hurt a reader: large, deep, unclosed or no pages at all. */
import { randomFillSync } from 'node:crypto';

const megabytes = (count: number, piece: (index: number) => string): string => {
  const pieces: string[] = [];
  let length = 0;
  for (let index = 0; length < count * 1_000_000; index += 1) {
    const next = piece(index);
    pieces.push(next);
    length += next.length;
  }
  return pieces.join('');
};

const paragraph = (index: number): string =>
  `<div class="c${index} text-block" id="p${index}"><h3>Part ${index}</h3><p>The harbour was <b>closed</b> for ${index} days, and the <a href="/ships/${index}?from=list&amp;n=${index}">ships</a> lay in the roads; <em>nobody</em> knew why &mdash; or said so.</p><ul><li><a href="/a${index}">first</a></li><li>second, with <code>code_${index}()</code></li></ul></div>`;
const article = (index: number): string =>
  `<p class="article-text">The harbour was closed for ${index} days, and the ships lay in the roads; nobody knew why, or said so.</p>`;
const row = (index: number): string =>
  `<tr><td>${index}</td><td><a href="/r/${index}">row ${index}</a></td><td>some | text</td></tr>`;

/** Each by name; made when asked for, because together they are large. */
export const hostilePages: Readonly<Record<string, () => string>> = {
  '5 MB of ordinary markup': () => `<body><main>${megabytes(5, paragraph)}</main>`,
  '5 MB of an article': () =>
    `<meta property="og:type" content="article"><body><h1>Title</h1><div>${megabytes(5, article)}</div>`,
  '5 MB of a table': () => `<body><table>${megabytes(5, row)}</table>`,
  '200,000 nested elements': () => `${'<div>'.repeat(200_000)}TEXT`,
  '200,000 nested elements, closed': () => `${'<div>a'.repeat(200_000)}${'</div>'.repeat(200_000)}`,
  'unclosed tags': () => '<p>a<b>b<i>c<a href=x>d<table><tr><td>e'.repeat(50_000),
  'unclosed lists': () => '<ul><li>a'.repeat(200_000),
  '200,000 attributes': () =>
    `<p ${Array.from({ length: 200_000 }, (_value, index) => `a${index}="b"`).join(' ')}>TEXT`,
  'a million line ends in pre': () => `<pre>${'\n'.repeat(1_000_000)}</pre>`,
  'open angle brackets': () => '<'.repeat(2_000_000),
  'open comments': () => '<!--'.repeat(500_000),
  '2 MB of random bytes': () => randomFillSync(Buffer.alloc(2_000_000)).toString('latin1'),
};
