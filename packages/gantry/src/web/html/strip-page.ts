import { consentShare, isConsentBanner } from './consent.ts';
import { measureTree } from './measure.ts';
import { labelOf } from './label.ts';
import type { PageElement } from './page-tree.ts';
import { findElement, textOf } from './page-tree.ts';

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
  measureTree(root);
  const total = visibleChars(root);
  const most = total * 0.5;
  // The frame of a short page can be the larger part of it.
  const main = findElement(root, (element) => isMain(element) && element.chars >= leastMainChars);
  let hadConsentBanner = false;

  const isNoise = (element: PageElement): boolean => {
    const chars = element.chars;
    // Some pages keep all their text for readers without scripts.
    if (element.name === 'noscript') return chars <= total;
    if (silent.has(element.name)) return true;
    if (isHidden(element)) return chars < most || !holdsContent(element);
    if (isConsentBanner(element)) {
      if (chars >= most && consentShare(textOf(element)) < 0.6) return false;
      if (content.has(element.name) || holdsContent(element)) return false;
      hadConsentBanner = true;
      return true;
    }
    if (controls.has(element.name)) return true;
    if (options.keepFrame || chars === 0) return false;
    // How a character is read stands beside it; within the running text it would break every word.
    if (readingAids.has(element.name)) return true;
    const frame = frameKind(element);
    if (frame === undefined || holdsContent(element)) return false;
    // Names of classes mean less than elements do, so it takes less text to overrule them.
    if (frame === 'element') return chars < most || isBeside(element, main);
    const ownChars = chars - element.linkChars;
    return (
      (ownChars < total * 0.2 || isBeside(element, main)) &&
      findElement(element, ({ name }) => name === 'h1') === undefined
    );
  };

  const clean = (element: PageElement): void => {
    // Most elements hold none, and keep the array they have.
    const first = element.children.findIndex((child) => typeof child !== 'string' && isNoise(child));
    if (first !== -1)
      element.children = element.children.filter(
        (child, index) => index < first || (index > first && (typeof child === 'string' || !isNoise(child))),
      );
    for (const child of element.children) if (typeof child !== 'string') clean(child);
  };
  clean(root);
  return { charsBefore: total, hadConsentBanner };
};

/** A page that has not been filled yet says no more than that it is loading. */
const leastMainChars = 40;

const isMain = ({ name, attributes }: PageElement): boolean => name === 'main' || attributes['role'] === 'main';

/** Whether the page marks its main part and the element is not within it. */
const isBeside = (element: PageElement, main: PageElement | undefined): boolean => {
  if (!main) return false;
  for (let at: PageElement | undefined = element; at; at = at.parent) if (at === main) return false;
  return true;
};

const silent = new Set(
  'script style template head meta link svg canvas object embed iframe audio video map area param noscript noframes datalist base'.split(
    ' ',
  ),
);
const readingAids = new Set(['rt', 'rp']);
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
  // Examples stand beside the text that they belong to.
  if (name === 'aside') return notes.test(labelOf(element)) || holdsCode(element) ? undefined : 'element';
  if (frameElements.has(name)) return 'element';
  return labelled.has(name) && frameLabels.test(labelOf(element).replaceAll(layoutLabels, '')) ? 'label' : undefined;
};

const holdsCode = (element: PageElement): boolean => findElement(element, ({ name }) => name === 'pre') !== undefined;

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
  findElement(element, (below) => below.name === 'article' || isMain(below)) !== undefined;

/** Text of the page without what is never shown. */
const visibleChars = (root: PageElement): number => {
  let chars = root.chars;
  const subtract = (element: PageElement): void => {
    for (const child of element.children) {
      if (typeof child === 'string') continue;
      if (silent.has(child.name)) chars -= child.chars;
      else subtract(child);
    }
  };
  subtract(root);
  return chars;
};
