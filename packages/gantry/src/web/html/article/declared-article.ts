import type { PageElement } from '../page-tree.ts';
import { findElement, textOf } from '../page-tree.ts';

/** True when the page says of itself that it is an article: Open Graph, JSON-LD or microdata. Read before anything is stripped. */
export const isDeclaredArticle = (root: PageElement): boolean =>
  findElement(root, (element) => {
    const { name, attributes, children } = element;
    if (name === 'meta')
      return attributes['property'] === 'og:type' && (attributes['content'] ?? '').toLowerCase().includes('article');
    if (name === 'script') return children.length > 0 && articleData.test(textOf(element));
    return articleType.test(attributes['itemtype'] ?? '') || attributes['itemprop'] === 'articleBody';
  }) !== undefined;

const kinds =
  '(?:News|Blog|Reportage|Opinion|Analysis|Background|Review|Satirical|Scholarly|Tech|Medical)?(?:Article|Posting)';
const articleData = new RegExp(`"@type"\\s*:\\s*(?:\\[\\s*)?"${kinds}(?:NewsArticle)?"`);
const articleType = new RegExp(`schema\\.org/${kinds}(?:NewsArticle)?$`);
