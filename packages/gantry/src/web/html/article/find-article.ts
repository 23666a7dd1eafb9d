import { clutterIn } from './article-clutter.ts';
import { leadsBefore, withNeighbours } from './article-parts.ts';
import type { PageElement } from '../page-tree.ts';
import { toElement } from '../page-tree.ts';
import { topCandidate } from './top-candidate.ts';

/** The running text of an article as it was found in a page. */
export interface FoundArticle {
  /** Characters that are not white space. */
  readonly chars: number;
  /** The article as a tree of its own; the page's tree must not be used afterwards. */
  take(): PageElement;
}

/**
 * Finds the running text of an article and what belongs to it, without teasers, comments and link lists; undefined where no such text
 * can be told from the rest.
 *
 * Paragraphs give points to what holds them, by length and commas; the element with the most points per link is the article, with the
 * neighbours that read like it (the method of Readability, on this tree).
 */
export const findArticle = (root: PageElement): FoundArticle | undefined => {
  const top = topCandidate(root);
  if (!top) return undefined;
  const neighbours = withNeighbours(top);
  const parts = [...leadsBefore(neighbours[0] ?? top, root), ...neighbours];
  const clutter = clutterIn(parts);
  let chars = 0;
  for (const part of parts) chars += part.chars;
  for (const element of clutter) chars -= element.chars;
  return {
    chars,
    take: () => {
      for (const { parent } of clutter)
        if (parent)
          parent.children = parent.children.filter((child) => typeof child === 'string' || !clutter.has(child));
      return { ...toElement('article', {}), children: parts };
    },
  };
};
