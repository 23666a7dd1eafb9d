/** What a reader made of the pages of a corpus, as shares. */
import { blockElements } from '../../packages/gantry/src/web/html/element-kinds.ts';
import type { PageElement } from '../../packages/gantry/src/web/html/page-tree.ts';
import { textOf, visitElements } from '../../packages/gantry/src/web/html/page-tree.ts';
import { scoreWords, toPlainText, withoutSpace } from '../lib/page-scores.ts';
import type { DocumentationPage, NewsPage, SnippetPage } from './corpora.ts';

/** Pages and what a reader made of them, in the same order. */
export interface ReadPages<Page> {
  readonly pages: readonly Page[];
  readonly texts: readonly string[];
}

/** The pages of one half of a corpus, so that one can be looked at while rules are made and the other cannot. */
export const halfOf = <Page>({ pages, texts }: ReadPages<Page>, half: 0 | 1): ReadPages<Page> => ({
  pages: pages.filter((_page, index) => index % 2 === half),
  texts: texts.filter((_text, index) => index % 2 === half),
});

/** Word counts against the texts written down by hand; means over pages. */
export const scoreNews = ({
  pages,
  texts,
}: ReadPages<NewsPage>): { readonly f1: number; readonly precision: number; readonly recall: number } => {
  const scores = pages.map(({ article }, index) => scoreWords(article, toPlainText(texts[index] ?? '')));
  const mean = (of: 'f1' | 'precision' | 'recall'): number =>
    scores.reduce((sum, score) => sum + score[of], 0) / scores.length;
  return { f1: mean('f1'), precision: mean('precision'), recall: mean('recall') };
};

/** Shares of the snippets that were kept and that leaked, over all pages. */
export const scoreSnippets = ({
  pages,
  texts,
}: ReadPages<SnippetPage>): { readonly kept: number; readonly leaked: number } => {
  const counts = { kept: 0, must: 0, leaked: 0, mustNot: 0 };
  for (const [index, { must, mustNot }] of pages.entries()) {
    const text = withoutSpace(toPlainText(texts[index] ?? ''));
    const has = (snippet: string): boolean => text.includes(withoutSpace(toPlainText(snippet)));
    counts.must += must.length;
    counts.kept += must.filter(has).length;
    counts.mustNot += mustNot.length;
    counts.leaked += mustNot.filter(has).length;
  }
  return { kept: counts.kept / counts.must, leaked: counts.leaked / counts.mustNot };
};

/** What became of documentation: its words, and how much of its structure is there as it was. */
export interface DocumentationScore {
  readonly f1: number;
  readonly headings: Found;
  readonly codeBlocks: Found;
  readonly tables: Found;
}

/** How many of how many. */
export interface Found {
  found: number;
  all: number;
}

/** Compares with the content element of each page. */
export const scoreDocumentation = ({ pages, texts }: ReadPages<DocumentationPage>): DocumentationScore => {
  const headings = { found: 0, all: 0 };
  const codeBlocks = { found: 0, all: 0 };
  const tables = { found: 0, all: 0 };
  let f1 = 0;
  for (const [index, { content }] of pages.entries()) {
    const markdown = texts[index] ?? '';
    const plain = toPlainText(markdown);
    f1 += scoreWords(shownText(content), plain).f1 / pages.length;
    const letters = withoutSpace(plain);
    const lines = codeLetters(markdown);
    const before = tables.all;
    visitElements(content, (element) => {
      if (/^h[1-6]$/.test(element.name)) {
        headings.all += 1;
        if (letters.includes(withoutSpace(toPlainText(textOf(element).replaceAll('¶', ''))))) headings.found += 1;
      } else if (element.name === 'pre') {
        codeBlocks.all += 1;
        if (lines.includes(codeLetters(textOf(element)))) codeBlocks.found += 1;
      } else if (element.name === 'table') {
        if (isTable(element)) tables.all += 1;
        // There are no blocks of code in a cell of Markdown.
        return false;
      }
      return true;
    });
    const found = markdown.match(/^[> ]*\|(?: *:?-+:? *\|)+ *$/gm)?.length ?? 0;
    tables.found += Math.min(found, tables.all - before);
  }
  return { f1, headings, codeBlocks, tables };
};

/** White space and the marks of quotations do not count: code in a quotation is still its code. */
const codeLetters = (text: string): string => withoutSpace(text).replaceAll('>', '');

/** One row, or one column without a heading, arranges the page; it is no table to a reader. */
const isTable = (element: PageElement): boolean => {
  const rows: PageElement[] = [];
  visitElements(element, (below) => void (below.name === 'tr' && rows.push(below)));
  const cellsOf = (row: PageElement) => row.children.filter((cell) => typeof cell !== 'string');
  return rows.length > 1 && rows.some((row) => cellsOf(row).length > 1 || cellsOf(row)[0]?.name === 'th');
};

/** The text as a browser shows it: blocks and cells stand apart, whether or not there is white space in the markup. */
const shownText = (element: PageElement): string => {
  const pieces: string[] = [];
  const collect = ({ children }: PageElement): void => {
    for (const child of children) {
      if (typeof child === 'string') pieces.push(child);
      else {
        const isApart = blockElements.has(child.name) || child.name === 'br';
        if (isApart) pieces.push('\n');
        collect(child);
        if (isApart) pieces.push('\n');
      }
    }
  };
  collect(element);
  return pieces.join('');
};
