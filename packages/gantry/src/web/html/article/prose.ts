import { blockElements } from '../element-kinds.ts';
import { labelOf } from '../label.ts';
import type { PageElement } from '../page-tree.ts';
import { textOf } from '../page-tree.ts';

/** Elements whose own text is a paragraph: paragraphs, and blocks that hold no other block. */
export const isParagraph = (element: PageElement): boolean => {
  if (element.chars < 20) return false;
  if (paragraphs.has(element.name)) return true;
  return (
    containers.has(element.name) &&
    !element.children.some((child) => typeof child !== 'string' && blockElements.has(child.name))
  );
};

const paragraphs = new Set(['p', 'pre', 'blockquote']);
const containers = new Set(['div', 'section', 'td', 'article']);

/** The text that stands in an element beside its blocks, links aside. */
export const directText = (element: PageElement): string => {
  if (!containers.has(element.name)) return '';
  let text = '';
  for (const child of element.children) {
    if (typeof child === 'string') text += child.trim();
    else if (child.name !== 'a' && !blockElements.has(child.name) && child.children.length === 1) text += textOf(child);
  }
  return text;
};

/** Characters of running text below each element: paragraphs of some length, those of comments and teasers aside. */
export const proseBelow = (root: PageElement): ReadonlyMap<PageElement, number> => {
  const prose = new Map<PageElement, number>();
  const count = (element: PageElement): number => {
    let chars = 0;
    if (unlikely.test(labelOf(element)) && !likely.test(labelOf(element))) chars = 0;
    else if (isParagraph(element)) {
      const own = element.chars - element.linkChars;
      chars = own >= 80 ? own : 0;
    } else {
      const direct = directText(element).length;
      if (direct >= 80) chars += direct;
      for (const child of element.children) if (typeof child !== 'string') chars += count(child);
    }
    if (chars > 0) prose.set(element, chars);
    return chars;
  };
  count(root);
  return prose;
};

/** Words in a class or id that speak for an element holding the text of a page. */
export const likely: RegExp = /article|body|content|entry|hentry|main|post|text|blog|story/;
/** Words that speak against it. */
export const unlikely: RegExp =
  /comment|combx|contact|foot|masthead|media|meta|outbrain|promo|related|scroll|share|shoutbox|side|sponsor|tags|teaser|tool|widget|disqus|newsletter|popular|recommend|taboola/;
