import { consentShare, isConsentBanner } from './consent.ts';
import type { Measures } from './measure.ts';
import { measureTree } from './measure.ts';
import type { PageElement } from './page-tree.ts';
import { findElement, labelOf, textOf } from './page-tree.ts';

/** What was seen while the page was stripped. */
export interface StripFacts {
  /** Visible characters that were there before, white space aside. */
  readonly charsBefore: number;
  /** A consent banner was taken out. */
  readonly hadConsentBanner: boolean;
}

/**
 * Takes out of the tree what no reader wants: scripts, styles, hidden text, controls and consent banners; unless `keepFrame`, also
 * the frame of the page (navigation, footers, side bars, dialogs). What holds the page's content, or most of its text, stays.
 */
export const stripPage = (root: PageElement, options: { keepFrame: boolean }): StripFacts => {
  const measures = measureTree(root);
  const total = visibleChars(root, measures);
  const most = total * 0.5;
  let hadConsentBanner = false;

  const isNoise = (element: PageElement): boolean => {
    const chars = measures.get(element)?.chars ?? 0;
    // Some pages keep all their text for readers without scripts.
    if (element.name === 'noscript') return chars <= total;
    if (silent.has(element.name)) return true;
    if (isHidden(element)) return chars < most || !holdsContent(element);
    if (isConsentBanner(element, measures)) {
      if (chars >= most && consentShare(textOf(element)) < 0.6) return false;
      if (content.has(element.name) || holdsContent(element)) return false;
      hadConsentBanner = true;
      return true;
    }
    if (controls.has(element.name)) return true;
    if (options.keepFrame || chars === 0) return false;
    const frame = frameKind(element);
    if (frame === undefined || holdsContent(element)) return false;
    // Names of classes mean less than elements do, so it takes less text to overrule them.
    if (frame === 'element') return chars < most;
    const ownChars = chars - (measures.get(element)?.linkChars ?? 0);
    return ownChars < total * 0.2 && findElement(element, ({ name }) => name === 'h1') === undefined;
  };

  const clean = (element: PageElement): void => {
    if (element.children.length === 0) return;
    element.children = element.children.filter((child) => typeof child === 'string' || !isNoise(child));
    for (const child of element.children) if (typeof child !== 'string') clean(child);
  };
  clean(root);
  return { charsBefore: total, hadConsentBanner };
};

const silent = new Set(
  'script style template head meta link svg canvas object embed iframe audio video map area param noscript noframes datalist base'.split(
    ' ',
  ),
);
const controls = new Set('button input select textarea option progress meter'.split(' '));
const content = new Set(['main', 'article', 'body', 'html']);
const frameElements = new Set(['nav', 'footer', 'aside', 'menu']);
const frameRoles = new Set(
  'navigation banner contentinfo complementary search menu menubar toolbar dialog alertdialog tablist'.split(' '),
);
const frameLabels =
  /(?:^|[\s_-])(?:side-?bar|breadcrumbs?|nav|nav-?(?:bar|header|footer)|navigation|(?:main|top|sub|site|side|global|mobile|footer|header|user|meta)-?(?:nav|navi|menu|navigation)|menu(?:-(?:box|container|bar))?|skip-?(?:link|nav|to-content)|back-?to-?top|footer-?(?:col|links|content|wrap|container|inner|bottom|top|area|widgets?)?\d*|(?:site|page|global|dark)-?footer|social-?(?:share|links|media|icons|buttons)?|share-?(?:bar|buttons|links|tools|this)|sharing|newsletter|subscribe|sign-?up|advert(?:isement)?s?|ad-(?:container|wrapper|slot|unit)|promo|sponsor(?:ed)?|related-?(?:posts|articles|content|links|stories|news|entries)?|recommended|recommendations|cross-?selling|popup|modal|print-?only|entry-?tools|comment-?(?:form|respond|head)|no-?comments|respond(?:-wrapper)?|reply-?form|(?:products?|related)-?slider|cta|author-?(?:bio|box|info|card|container|description)|entry-?author|widget-?(?:area|recent|archive|categories|tag|text|html)|blogroll|tag-?cloud|credits|copyright|pager|pagination|paging|prev-?next|post-?navigation|visually-?hidden-?menu)(?:$|[\s_-])/;
// Says of the whole page how it is laid out.
const layoutLabels = /(?:has|with|w|no|without)-?side-?bars?/g;
// Notes, tips and warnings of documentation are often written as asides.
const notes = /note|tip|warn|admonition|callout|caution|important|info|example|pull-?quote|box|definition/;

/** What says that an element belongs to the frame of the page: its kind or role, or only a word in its class or id. */
const frameKind = (element: PageElement): 'element' | 'label' | undefined => {
  const { name, attributes, parent } = element;
  if (content.has(name)) return undefined;
  if (frameRoles.has(attributes['role'] ?? '')) return 'element';
  if (name === 'footer') return parent?.name === 'blockquote' || parent?.name === 'figure' ? undefined : 'element';
  if (name === 'aside') return notes.test(labelOf(element)) ? undefined : 'element';
  if (frameElements.has(name)) return 'element';
  return labelled.has(name) && frameLabels.test(labelOf(element).replaceAll(layoutLabels, '')) ? 'label' : undefined;
};

const labelled = new Set(['div', 'section', 'ul', 'ol', 'form', 'p', 'table', 'span', 'header', 'td', 'dialog']);

const isHidden = ({ attributes, name }: PageElement): boolean => {
  const { hidden, style } = attributes;
  if (hidden !== undefined && hidden !== 'until-found') return true;
  if (attributes['aria-hidden'] === 'true') return true;
  if (name === 'dialog' && attributes['open'] === undefined) return true;
  return style !== undefined && style.length < 4_096 && hidingStyle.test(style);
};

const hidingStyle =
  /display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?:\.0*)?(?:px|em|rem|pt|%)?\s*(?:;|!|$)|opacity\s*:\s*0(?:\.0*)?\s*(?:;|!|$)/i;

const holdsContent = (element: PageElement): boolean =>
  findElement(
    element,
    ({ name, attributes }) => name === 'main' || name === 'article' || attributes['role'] === 'main',
  ) !== undefined;

/** Text of the page without what is never shown. */
const visibleChars = (root: PageElement, measures: Measures): number => {
  let chars = measures.get(root)?.chars ?? 0;
  const subtract = (element: PageElement): void => {
    for (const child of element.children) {
      if (typeof child === 'string') continue;
      if (silent.has(child.name)) chars -= measures.get(child)?.chars ?? 0;
      else subtract(child);
    }
  };
  subtract(root);
  return chars;
};
