import { blockElements } from './element-kinds.ts';
import type { Measures } from './measure.ts';
import type { PageElement } from './page-tree.ts';
import { findElement, labelOf, textOf, visitElements } from './page-tree.ts';

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
export const findArticle = (root: PageElement, measures: Measures): FoundArticle | undefined => {
  const top = topCandidate(root, measures);
  if (!top) return undefined;
  const neighbours = withNeighbours(top, measures);
  const parts = [...leadsBefore(neighbours[0] ?? top, root, measures), ...neighbours];
  const clutter = clutterIn(parts, measures);
  let chars = 0;
  for (const part of parts) chars += measures.get(part)?.chars ?? 0;
  for (const element of clutter) chars -= measures.get(element)?.chars ?? 0;
  return {
    chars,
    take: () => {
      for (const { parent } of clutter)
        if (parent)
          parent.children = parent.children.filter((child) => typeof child === 'string' || !clutter.has(child));
      return { name: 'article', attributes: {}, parent: undefined, children: parts, measure: undefined };
    },
  };
};

const topCandidate = (root: PageElement, measures: Measures): PageElement | undefined => {
  const points = new Map<PageElement, number>();
  const give = (element: PageElement | undefined, score: number): void => {
    if (element) points.set(element, (points.get(element) ?? weightOf(element)) + score);
  };
  visitElements(root, (element) => {
    if (!isParagraph(element, measures)) {
      // Paragraphs that are only parted by line breaks stand right in what holds them.
      const direct = directText(element);
      if (direct.length >= 60) {
        const score = pointsOf(direct.length, direct);
        give(element, score);
        give(element.parent, score / 2);
      }
      return;
    }
    const chars = measures.get(element)?.chars ?? 0;
    const ownChars = chars - (measures.get(element)?.linkChars ?? 0);
    if (ownChars < 20) return;
    const score = pointsOf(ownChars, textOf(element));
    give(element.parent, score);
    give(element.parent?.parent, score / 2);
    let at = element.parent?.parent?.parent;
    for (let level = 2; at && level < 5; level += 1, at = at.parent) give(at, score / (level * 3));
  });
  let top: PageElement | undefined;
  let best = 0;
  for (const [element, raw] of points) {
    const score = raw * (1 - linkShare(element, measures));
    points.set(element, score);
    if (score > best) {
      top = element;
      best = score;
    }
  }
  if (!top) return undefined;
  return climb(top, proseBelow(root, measures));
};

/** An article in pieces: goes up while what is around holds clearly more running text, and little else. */
const climb = (top: PageElement, prose: ReadonlyMap<PageElement, number>): PageElement => {
  let found = top;
  for (let at = top.parent; at && at.name !== 'body' && at.parent; at = at.parent) {
    const here = prose.get(at) ?? 0;
    if (here > (prose.get(found) ?? 0) * 1.2) found = at;
  }
  return found;
};

/** Characters of running text below each element: paragraphs of some length, those of comments and teasers aside. */
const proseBelow = (root: PageElement, measures: Measures): ReadonlyMap<PageElement, number> => {
  const prose = new Map<PageElement, number>();
  const count = (element: PageElement): number => {
    let chars = 0;
    if (unlikely.test(labelOf(element)) && !likely.test(labelOf(element))) chars = 0;
    else if (isParagraph(element, measures)) {
      const own = (measures.get(element)?.chars ?? 0) - (measures.get(element)?.linkChars ?? 0);
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

const linkShare = (element: PageElement, measures: Measures): number => {
  const { chars, linkChars } = measures.get(element) ?? { chars: 0, linkChars: 0 };
  return chars === 0 ? 0 : linkChars / chars;
};

/** Elements whose own text is a paragraph: paragraphs, and blocks that hold no other block. */
const isParagraph = (element: PageElement, measures: Measures): boolean => {
  if ((measures.get(element)?.chars ?? 0) < 20) return false;
  if (paragraphs.has(element.name)) return true;
  return (
    containers.has(element.name) &&
    !element.children.some((child) => typeof child !== 'string' && blockElements.has(child.name))
  );
};

const paragraphs = new Set(['p', 'pre', 'blockquote']);
const containers = new Set(['div', 'section', 'td', 'article']);

const pointsOf = (chars: number, text: string): number => 1 + Math.min(3, Math.floor(chars / 80)) + commasOf(text);

/** The text that stands in an element beside its blocks, links aside. */
const directText = (element: PageElement): string => {
  if (!containers.has(element.name)) return '';
  let text = '';
  for (const child of element.children) {
    if (typeof child === 'string') text += child.trim();
    else if (child.name !== 'a' && !blockElements.has(child.name) && child.children.length === 1) text += textOf(child);
  }
  return text;
};

const commasOf = (text: string): number => {
  let count = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    // "," and its forms in Arabic, Chinese and Japanese.
    if (code === 0x2c || code === 0x60c || code === 0xff0c || code === 0x3001) count += 1;
  }
  return count;
};

const weightOf = (element: PageElement): number => {
  const { name } = element;
  const label = labelOf(element);
  let weight = name === 'div' ? 5 : name === 'form' || name === 'ul' || name === 'ol' || name === 'th' ? -3 : 0;
  if (name === 'article') weight += 10;
  if (element.attributes['itemprop'] === 'articleBody') weight += 60;
  if (likely.test(label)) weight += 25;
  if (unlikely.test(label)) weight -= 25;
  return weight;
};

const likely = /article|body|content|entry|hentry|main|post|text|blog|story/;
const unlikely =
  /comment|combx|contact|foot|masthead|media|meta|outbrain|promo|related|scroll|share|shoutbox|side|sponsor|tags|teaser|tool|widget|disqus|newsletter|popular|recommend|taboola/;

/** The candidate and those of its neighbours that read as parts of the same text, in the order of the page. */
const withNeighbours = (top: PageElement, measures: Measures): PageElement[] => {
  const parts: PageElement[] = [];
  for (const sibling of top.parent?.children ?? [top]) {
    if (typeof sibling === 'string') continue;
    if (sibling === top || isPart(sibling, top, measures)) parts.push(sibling);
  }
  return parts;
};

/** What stands between the headline and the running text and introduces it: a lead, a standfirst, a summary. */
const leadsBefore = (first: PageElement, root: PageElement, measures: Measures): PageElement[] => {
  let leads: PageElement[] | undefined;
  let isDone = false;
  visitElements(root, (element) => {
    if (element === first) isDone = true;
    if (isDone) return false;
    if (element.name === 'h1') {
      leads = [];
      return false;
    }
    if (!leads) return true;
    if (!isLead(element, measures)) return element.name !== 'figure' && !clutterLabels.test(labelOf(element));
    leads.push(element);
    return false;
  });
  return isDone && leads && leads.length <= maxLeads ? leads : [];
};

const maxLeads = 8;

const isLead = (element: PageElement, measures: Measures): boolean => {
  const { chars } = measures.get(element) ?? { chars: 0 };
  if (chars < 40 || chars > 2_000 || linkShare(element, measures) > 0.3) return false;
  return isParagraph(element, measures) || (element.name === 'h2' && chars > 60);
};

const isPart = (sibling: PageElement, top: PageElement, measures: Measures): boolean => {
  const { chars } = measures.get(sibling) ?? { chars: 0 };
  const links = linkShare(sibling, measures);
  if (sibling.name === 'p' || sibling.name === 'blockquote' || sibling.name === 'pre')
    return chars > 60 ? links < 0.25 : chars > 0 && links === 0 && /[.!?]\s*$/.test(textOf(sibling));
  const label = labelOf(sibling);
  return (
    sibling.name === top.name &&
    label.trim() !== '' &&
    sibling.attributes['class'] === top.attributes['class'] &&
    chars > 150 &&
    links < 0.3 &&
    !clutterLabels.test(label)
  );
};

/** What stands inside an article without being part of it. */
const clutterIn = (parts: readonly PageElement[], measures: Measures): ReadonlySet<PageElement> => {
  const clutter = new Set<PageElement>();
  for (const part of parts)
    visitElements(part, (element) => {
      if (!isClutter(element, measures)) return true;
      clutter.add(element);
      return false;
    });
  return clutter;
};

const isClutter = (element: PageElement, measures: Measures): boolean => {
  const { name } = element;
  const { chars } = measures.get(element) ?? { chars: 0 };
  if (chars === 0) return false;
  const links = linkShare(element, measures);
  if (name === 'p' && links > 0.85 && chars > 15 && chars < 400) return true;
  if (name === 'figcaption' || name === 'p' || name === 'pre' || name === 'blockquote' || name === 'a') return false;
  if (blockElements.has(name) && clutterLabels.test(labelOf(element)) && chars < 2_000)
    return findElement(element, ({ name: below }) => below === 'blockquote') === undefined;
  if (listLike.has(name) && links > 0.5 && chars > 15) return true;
  if (boxes.has(name) && links > 0.5 && chars > 25) return true;
  return false;
};

const listLike = new Set(['ul', 'ol', 'dl', 'table']);
const boxes = new Set(['div', 'section', 'header', 'form']);
const clutterLabels =
  /(?:^|[\s_-])(?:comments?|disqus|share|sharing|social|related|recirc|recommend(?:ed|ations)?|teasers?|promo|newsletter|subscribe|sign-?up|author-?(?:bio|box|info|card|container|description|avatar)|byline|cta|affiliate-?links?|app-?stores?|(?:community|editors?)-?notice|entry-?tools|tags?|taxonomy|breadcrumbs?|outbrain|taboola|most-?(?:read|popular)|read-?(?:more|next)|also-?(?:read|like)|trending|advert(?:isement|s)?|ads?|sponsor(?:ed)?|widget|toolbar|pagination|pager|post-?meta|entry-?meta|meta|caption|credits?|copyright|print|donate|inline-?(?:cta|promo))(?:$|[\s_-])/;
