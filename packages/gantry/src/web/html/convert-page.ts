import { cutText } from '../../text/cut.ts';
import { articleRule, chooseArticle } from './article/choose-article.ts';
import { consentShare } from './consent.ts';
import { baseOf, createLinkResolver } from './links.ts';
import { measureTree } from './measure.ts';
import type { PageElement } from './page-tree.ts';
import { findElement, parsePage, textOf } from './page-tree.ts';
import { scopeOf } from './scope.ts';
import { stripPage } from './strip-page.ts';
import { collapse } from './markdown-text.ts';
import { writeMarkdown } from './write-markdown.ts';

/** How much of a page is given: what reads best, all of it, or the running text of an article only. */
export type ReadMode = 'auto' | 'full' | 'article';

/** A page as a reader gets it. */
export interface ConvertedPage {
  readonly title: string;
  readonly markdown: string;
  /** What the text is: the whole page, the page without its frame, or the running text of its article. */
  readonly extent: 'full' | 'page' | 'article';
  /** Share of the visible characters that was left out, 0 to 1. */
  readonly droppedShare: number;
  /** False when the page was too large or too deep to be read with its structure to the end. */
  readonly complete: boolean;
  readonly signals: PageSignals;
}

/** What tells a page from a shell that stands in for it. */
export interface PageSignals {
  /** Readable characters, runs of white space as one. */
  readonly readableChars: number;
  readonly consent: boolean;
  /** Share of the text that speaks of consent, 0 to 1. */
  readonly consentShare: number;
  /** An app that its scripts have yet to fill. */
  readonly loader: boolean;
  readonly scripts: number;
}

/** Converts a page of HTML to Markdown. Never fails on broken markup. */
export const convertPage = (
  html: string,
  options: { readonly url: string; readonly mode: ReadMode },
): ConvertedPage => {
  const { url, mode } = options;
  const { root, complete, scripts } = parsePage(html);
  const title = titleOf(root);
  const resolveLink = createLinkResolver(baseOf(url, findElement(root, isBase)?.attributes['href']));
  const rule = articleRule(root, mode);
  const loaderSeen = looksLikeLoader(root, scripts > 0);
  const facts = stripPage(root, { keepFrame: mode === 'full' });
  measureTree(root);
  const scope = mode === 'full' ? root : scopeOf(root);
  const pageChars = scope.chars;
  // A long page is a page, whatever its words are.
  const words = pageChars < judgedChars ? collapse(textOf(scope)).trim() : undefined;

  const article = chooseArticle(scope, { rule, title });
  const markdown = writeMarkdown(article?.take() ?? scope, { resolveLink });
  const keptChars = article?.chars ?? pageChars;
  return {
    title,
    markdown,
    extent: article ? 'article' : mode === 'full' ? 'full' : 'page',
    droppedShare: facts.charsBefore === 0 ? 0 : 1 - Math.min(1, keptChars / facts.charsBefore),
    complete,
    signals: {
      readableChars: words?.length ?? pageChars,
      consent: facts.hadConsentBanner,
      consentShare: words === undefined ? 0 : consentShare(words),
      loader: loaderSeen || (words !== undefined && loaderWords.test(words.slice(0, 400))),
      scripts,
    },
  };
};

const maxTitleChars = 300;
const judgedChars = 20_000;

const isBase = ({ name, attributes }: PageElement): boolean => name === 'base' && attributes['href'] !== undefined;

const titleOf = (root: PageElement): string => {
  const element = findElement(root, ({ name, parent }) => name === 'title' && parent?.name !== 'svg');
  return element ? cutText(collapse(textOf(element)).trim(), maxTitleChars) : '';
};

const loaderWords =
  /enable javascript|javascript (?:is )?(?:required|disabled)|requires javascript|turn on javascript|^loading\b/i;

/** An app that its scripts have yet to fill: asks for JavaScript, or has an empty root and scripts. */
const looksLikeLoader = (root: PageElement, hasScripts: boolean): boolean => {
  const asks = findElement(
    root,
    ({ name, children }) => name === 'noscript' && children.some((child) => /javascript/i.test(textOf(child))),
  );
  if (asks) return true;
  return hasScripts && findElement(root, isAppRoot) !== undefined;
};

const isAppRoot = (element: PageElement): boolean =>
  appRoots.test(element.attributes['id'] ?? element.name) && textOf(element).trim().length < 40;

const appRoots = /^(?:root|app|__next|__nuxt|___gatsby|main-app|app-root|react-root)$/;
