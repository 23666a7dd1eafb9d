import type { ReadMode } from '../convert-page.ts';
import { isDeclaredArticle } from './declared-article.ts';
import type { FoundArticle } from './find-article.ts';
import { findArticle } from './find-article.ts';
import { ownArticle } from './own-article.ts';
import type { PageElement } from '../page-tree.ts';
import { findElement } from '../page-tree.ts';

/** Tells how much of a page its article may stand for; asked before the page is stripped, as that takes the declaration away. */
export const articleRule = (root: PageElement, mode: ReadMode): ArticleRule => {
  if (mode === 'full') return 'never';
  if (mode === 'article') return 'wanted';
  return isDeclaredArticle(root) ? 'declared' : 'undeclared';
};

/** Whether a page is read as an article: never, because the caller wants it, because it says it is one, or where that loses little. */
export type ArticleRule = 'never' | 'wanted' | 'declared' | 'undeclared';

/** The article to give instead of the page (`scope`), undefined where the page is more than that. */
export const chooseArticle = (
  scope: PageElement,
  options: { readonly rule: ArticleRule; readonly title: string },
): FoundArticle | undefined => {
  const { rule, title } = options;
  if (rule === 'never' || (rule === 'undeclared' && !isProse(scope))) return undefined;
  const own = rule === 'undeclared' ? undefined : ownArticle(scope, title);
  const article = findArticle(own ?? scope);
  const pageChars = scope.chars;
  return article !== undefined && isEnough[rule](article.chars, pageChars) ? article : undefined;
};

const isEnough: Record<Exclude<ArticleRule, 'never'>, (articleChars: number, pageChars: number) => boolean> = {
  wanted: (chars) => chars >= 100,
  declared: (chars, pageChars) => chars >= pageChars * 0.6 || (chars >= 200 && chars >= pageChars * 0.05),
  // What does not say it is an article is only read as one where there is much of it and little else.
  undeclared: (chars, pageChars) => chars >= 800 && chars >= pageChars * 0.8,
};

/** Nothing but running text: reference pages, whose structure is what they say, hold code, definitions or tables. */
const isProse = (scope: PageElement): boolean => findElement(scope, ({ name }) => structured.has(name)) === undefined;

const structured = new Set(['pre', 'code', 'kbd', 'samp', 'dl', 'table']);
