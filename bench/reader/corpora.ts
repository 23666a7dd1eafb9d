/** Pages with what is known about them; none of them is part of the repository. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { decodeBytes } from '../../packages/gantry/src/web/html/decode-bytes.ts';
import type { PageElement } from '../../packages/gantry/src/web/html/page-tree.ts';
import { findElement, parsePage } from '../../packages/gantry/src/web/html/page-tree.ts';

/** A page as it was stored. */
export interface StoredPage {
  readonly url: string;
  readonly html: string;
}

/** A news page and the text of its article, written down by hand. */
export interface NewsPage extends StoredPage {
  readonly article: string;
}

/** A page and snippets of text that must, and must not, appear. */
export interface SnippetPage extends StoredPage {
  readonly must: readonly string[];
  readonly mustNot: readonly string[];
}

/** A page of documentation and the element that is its content. */
export interface DocumentationPage extends StoredPage {
  readonly content: PageElement;
}

const decode = (bytes: Uint8Array): string => decodeBytes(bytes, { charset: undefined, isHtml: true });

/** scrapinghub/article-extraction-benchmark; undefined where it is not there. */
export const newsPages = (corpora: string): readonly NewsPage[] | undefined => {
  const folder = join(corpora, 'article-extraction-benchmark');
  if (!existsSync(folder)) return undefined;
  const truth = JSON.parse(readFileSync(join(folder, 'ground-truth.json'), 'utf8')) as Record<
    string,
    { articleBody: string; url: string }
  >;
  return Object.entries(truth).map(([key, { articleBody, url }]) => ({
    url,
    html: decode(gunzipSync(readFileSync(join(folder, 'html', `${key}.html.gz`)))),
    article: articleBody,
  }));
};

/** The evaluation set of adbar/trafilatura; undefined where it is not there. */
export const snippetPages = (corpora: string): readonly SnippetPage[] | undefined => {
  const folder = join(corpora, 'trafilatura', 'tests');
  if (!existsSync(folder)) return undefined;
  const set = JSON.parse(readFileSync(join(folder, 'evaldata.json'), 'utf8')) as Record<
    string,
    { file: string; with?: string[]; without?: string[] }
  >;
  return Object.entries(set).flatMap(([name, { file, with: must = [], without: mustNot = [] }]) => {
    const path = ['eval', 'cache'].map((place) => join(folder, place, file)).find((candidate) => existsSync(candidate));
    // Some keys only name the page.
    const url = URL.canParse(name) && name.startsWith('http') ? name : 'https://page.example/';
    return path === undefined ? [] : [{ url, html: decode(readFileSync(path)), must, mustNot }];
  });
};

/** A package of documentation of Debian. */
export interface DocumentationPackage {
  readonly name: string;
  /** Undefined where it is not installed. */
  readonly pages: readonly DocumentationPage[] | undefined;
}

/** Where each package keeps its pages, and which element of a page is its content. */
const packages = [
  {
    name: 'python3-doc',
    path: 'python3.11/html/library',
    isContent: ({ attributes }: PageElement) => attributes['role'] === 'main',
  },
  { name: 'git-doc', path: 'git/html', isContent: ({ name }: PageElement) => name === 'body' },
  {
    name: 'postgresql-doc',
    path: 'postgresql-doc-15/html',
    isContent: ({ name, attributes }: PageElement) =>
      name === 'div' && /^(?:sect1|refentry|chapter)$/.test(attributes['class'] ?? ''),
  },
];

/** The packages with all their pages that have such an element. */
export const documentationPackages = (root = '/usr/share/doc'): readonly DocumentationPackage[] =>
  packages.map(({ name, path, isContent }) => {
    const folder = join(root, path);
    if (!existsSync(folder)) return { name, pages: undefined };
    const files = readdirSync(folder)
      .filter((file) => file.endsWith('.html'))
      .toSorted();
    const pages = files.flatMap((file) => {
      const html = readFileSync(join(folder, file), 'utf8');
      const content = findElement(parsePage(html).root, isContent);
      if (!content) return [];
      dropPageFooter(content);
      return [{ url: `https://docs.example/${file}`, html, content }];
    });
    return { name, pages };
  });

/** AsciiDoc ends a body with when the page was made; that is part of the page's frame, not of the manual. */
const dropPageFooter = (body: PageElement): void => {
  body.children = body.children.filter(
    (child) => typeof child === 'string' || child.attributes['id'] !== 'footer' || child.name !== 'div',
  );
};
