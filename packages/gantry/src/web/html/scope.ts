import type { PageElement } from './page-tree.ts';
import { visitElements } from './page-tree.ts';

/**
 * The element the page itself marks as its content, if it holds at least half of the text; else `root`. One article among several is
 * not the content of a page: it may as well be the list of what to read next.
 */
export const scopeOf = (root: PageElement): PageElement => {
  const charsOf = (element: PageElement): number => element.chars;
  const marked: PageElement[] = [];
  visitElements(root, (element) => {
    const { name, attributes } = element;
    if (name !== 'main' && name !== 'article' && attributes['role'] !== 'main') return true;
    marked.push(element);
    // What lies deeper is smaller: an article within the main part leaves out what stands beside it.
    return false;
  });
  const [largest] = marked.toSorted((a, b) => charsOf(b) - charsOf(a));
  if (!largest || charsOf(largest) < charsOf(root) * 0.5) return root;
  const others = marked.reduce((sum, element) => sum + charsOf(element), -charsOf(largest));
  return largest.name === 'article' && others > charsOf(largest) * mostBeside ? root : largest;
};

const mostBeside = 0.15;
