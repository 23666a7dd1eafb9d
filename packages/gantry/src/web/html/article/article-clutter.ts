import { blockElements } from '../element-kinds.ts';
import { linkShare } from '../measure.ts';
import { labelOf } from '../label.ts';
import type { PageElement } from '../page-tree.ts';
import { findElement, visitElements } from '../page-tree.ts';

/** What stands inside the parts of an article without being part of it: teasers, shares, comments, boxes of links. */
export const clutterIn = (parts: readonly PageElement[]): ReadonlySet<PageElement> => {
  const clutter = new Set<PageElement>();
  for (const part of parts)
    visitElements(part, (element) => {
      if (!isClutter(element)) return true;
      clutter.add(element);
      return false;
    });
  return clutter;
};

const isClutter = (element: PageElement): boolean => {
  const { name, chars } = element;
  if (chars === 0) return false;
  const links = linkShare(element);
  if (name === 'p' && links > 0.85 && chars > 15 && chars < 400) return true;
  if (name === 'figcaption' || name === 'p' || name === 'pre' || name === 'blockquote' || name === 'a') return false;
  if (blockElements.has(name) && isLabelledClutter(element) && chars < 2_000)
    return findElement(element, ({ name: below }) => below === 'blockquote') === undefined;
  if (listLike.has(name) && links > 0.5 && chars > 15) return true;
  if (boxes.has(name) && links > 0.5 && chars > 25) return true;
  return false;
};

const listLike = new Set(['ul', 'ol', 'dl', 'table']);
const boxes = new Set(['div', 'section', 'header', 'form']);

/** True for what its class or id calls something that stands beside the text of an article. */
export const isLabelledClutter = (element: PageElement): boolean => {
  const label = labelOf(element);
  if (clutterLabels.test(label)) return true;
  // A teaser leads somewhere; one without a link is the lead of the article itself.
  return teaserLabels.test(label) && element.linkChars > 0;
};

const teaserLabels = /(?:^|[\s_-])teasers?(?:$|[\s_-])/;
const clutterLabels =
  /(?:^|[\s_-])(?:comments?|disqus|share|sharing|social|related|recirc|recommend(?:ed|ations)?|promo|newsletter|subscribe|sign-?up|author-?(?:bio|box|info|card|container|description|avatar)|byline|cta|affiliate-?links?|app-?stores?|(?:community|editors?)-?notice|entry-?tools|tags?|taxonomy|breadcrumbs?|outbrain|taboola|most-?(?:read|popular)|read-?(?:more|next)|also-?(?:read|like)|trending|advert(?:isement|s)?|ads?|sponsor(?:ed)?|widget|toolbar|pagination|pager|post-?meta|entry-?meta|meta|caption|credits?|copyright|print|donate|inline-?(?:cta|promo))(?:$|[\s_-])/;
