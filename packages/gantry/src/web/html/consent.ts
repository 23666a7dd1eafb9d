import { labelOf } from './label.ts';
import type { PageElement } from './page-tree.ts';
import { textOf } from './page-tree.ts';

/** Class and id words that only consent managers use. */
const vendors =
  /onetrust|cookiebot|cybotcookie|didomi|usercentrics|quantcast|qc-cmp|truste|trustarc|iubenda|klaro|osano|cookieyes|cky-consent|complianz|cmplz|borlabs|sourcepoint|sp_message|fundingchoices|fc-consent|termly|evidon|consent-?manager|cmpbox|cookie-?(?:banner|bar|consent|notice|law|popup|modal|message|policy-banner|overlay|disclaimer|info-?bar|warning|alert)|cookies?-(?:eu|accept)|(?:gdpr|consent|privacy)-?(?:banner|bar|popup|modal|notice|overlay|dialog|wall|message)|cc-(?:window|banner)|eu-cookie/;
const vocabulary =
  /cookies?\b|\bconsent\b|your privacy|privacy (?:choices|preferences|settings)|gdpr|datenschutz|einwilligung|confidentialité|privacidad|legitimate interest|our partners/i;
const choices =
  /\b(?:accept|agree|allow|reject|decline|refuse|manage|got it|akzeptieren|zustimmen|ablehnen|accepter|refuser|aceptar|rechazar|accetta|rifiuta|aanvaarden|accepteren)\b/i;

const largestBannerChars = 12_000;

/**
 * True for an element that is a consent banner: named as one by a known consent manager, or a small block that speaks of cookies or
 * consent and offers buttons to choose. A block that holds most of the page's text never is, unless it repeats itself about consent.
 */
export const isConsentBanner = (element: PageElement): boolean => {
  const chars = element.chars;
  if (chars === 0 || chars > largestBannerChars || !blocks.has(element.name)) return false;
  if (vendors.test(labelOf(element))) return true;
  if (!hasChoice(element, 0)) return false;
  // The smallest block that holds the whole banner is the banner; its wrapper may hold the page as well.
  const isWrapper = element.children.some(
    (child) => typeof child !== 'string' && child.chars >= chars * 0.6 && isConsentBanner(child),
  );
  if (isWrapper) return false;
  const text = textOf(element);
  return vocabulary.test(text) && choices.test(text) && consentShare(text) >= bannerShare;
};

const blocks = new Set(['div', 'section', 'aside', 'dialog', 'form', 'footer', 'header', 'p', 'span']);
const bannerShare = 0.5;

const hasChoice = (element: PageElement, depth: number): boolean =>
  element.children.some(
    (child) =>
      typeof child !== 'string' &&
      (child.name === 'button' ||
        child.attributes['role'] === 'button' ||
        (child.name === 'input' && /^(?:button|submit)$/.test(child.attributes['type'] ?? '')) ||
        (depth < 4 && hasChoice(child, depth + 1))),
  );

/** The share of a text's sentences that speak of cookies, consent or privacy. */
export const consentShare = (text: string): number => {
  let all = 0;
  let about = 0;
  for (const sentence of text.split(/[.!?\n]+/)) {
    const length = sentence.trim().length;
    if (length < 3) continue;
    all += length;
    if (vocabulary.test(sentence) || (length < 40 && choices.test(sentence))) about += length;
  }
  return all === 0 ? 0 : about / all;
};
