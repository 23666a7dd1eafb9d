import { collapse } from '../markdown-text.ts';
import type { PageElement } from '../page-tree.ts';
import { findElement, textOf, visitElements } from '../page-tree.ts';

/**
 * The article that a page is about, where it holds several: pages that go on with the next article when scrolled hold all of them, and
 * the longest may be another one. It is told by its headline, which the title of the page repeats; undefined where that names none or
 * more than one.
 */
export const ownArticle = (root: PageElement, title: string): PageElement | undefined => {
  const articles: PageElement[] = [];
  visitElements(root, (element) => {
    if (element.name !== 'article') return true;
    if (element.chars >= leastChars) articles.push(element);
    return false;
  });
  if (articles.length < 2) return undefined;
  const wanted = lettersOf(title);
  const own = articles.filter((article) => findElement(article, (element) => isHeadline(element, wanted)));
  return own.length === 1 ? own[0] : undefined;
};

/** Shorter ones are teasers. */
const leastChars = 400;
const leastHeadlineChars = 15;

const isHeadline = (element: PageElement, title: string): boolean => {
  if (element.name !== 'h1' && element.name !== 'h2') return false;
  const text = lettersOf(textOf(element));
  return text.length >= leastHeadlineChars && title.includes(text);
};

const lettersOf = (text: string): string =>
  collapse(text)
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '');
