/** Texts of buttons, lower case, one alternative each; a whole text has to match. */
export interface ConsentWords {
  readonly refuse: string;
  readonly accept: string;
  /** What a banner speaks of. */
  readonly subject: string;
  /** Buttons that refuse, as consent managers name them. */
  readonly knownRefusals: string;
}

/** The words of English and the larger European languages. */
export const consentWords: ConsentWords = {
  refuse:
    '(?:reject|refuse|decline|deny|disagree|opt out)(?: all| non-essential| optional| additional| unnecessary)*(?: cookies)?|' +
    'i (?:do not|don.t) (?:accept|agree|consent)|do not accept|no,? thanks?|continue without (?:accepting|agreeing|consent)|' +
    '(?:accept |use |allow )?(?:only )?(?:strictly )?(?:necessary|essential|required|needed)(?: cookies)?(?: only)?|' +
    '(?:alle )?(?:cookies )?(?:ablehnen|verweigern)|alles? ablehnen|nur (?:notwendige|erforderliche|essenzielle)(?: cookies)?(?: akzeptieren| zulassen)?|' +
    '(?:tout |tous )?refuser(?: tout| tous)?(?: les cookies)?|continuer sans accepter|rechazar(?: todo| todas)?(?: las cookies)?|' +
    'rifiuta(?: tutto| tutti)?(?: i cookie)?|(?:alles |alle cookies )?(?:weigeren|afwijzen)|rejeitar(?: tudo)?|avvisa(?: alla)?|odrzuć(?: wszystkie)?',
  accept:
    '(?:accept|allow|agree|consent)(?: to)?(?: all| and continue| & continue| and close)*(?: cookies)?|i (?:accept|agree|understand|consent)|' +
    'got it!?|okay|ok|yes,? i agree|agree (?:and|&) (?:continue|proceed|close)|continue|' +
    '(?:alle[ms]? )?(?:cookies )?(?:akzeptieren|zustimmen|annehmen|erlauben)|einverstanden|verstanden|' +
    "(?:tout |j'|ok,? )?accepte(?:r)?(?: tout| tous)?(?: les cookies)?|aceptar(?: todo| todas)?(?: las cookies)?|accetta(?: tutto| tutti)?|" +
    '(?:alles |alle cookies )?(?:accepteren|akkoord)|aceitar(?: tudo| todos)?|acceptera(?: alla)?|akceptuję|zaakceptuj(?: wszystkie)?',
  subject:
    'cookie|consent|your privacy|privacy (?:choices|preferences|settings)|gdpr|datenschutz|einwilligung|confidentialité|privacidad|' +
    'legitimate interest|our partners|prywatno|privatliv',
  knownRefusals:
    '#onetrust-reject-all-handler, #CybotCookiebotDialogBodyButtonDecline, .didomi-continue-without-agreeing, .cky-btn-reject, ' +
    '.cmplz-deny, [data-testid="uc-deny-all-button"], #truste-consent-required, .iubenda-cs-reject-btn, .osano-cm-denyAll, ' +
    '.qc-cmp2-summary-buttons button[mode="secondary"], .cc-deny, .cn-decline, .fc-cta-do-not-consent, .klaro .cn-decline',
};

interface Box {
  readonly width: number;
  readonly height: number;
}
interface Element {
  readonly textContent: string | null;
  readonly innerText?: string | undefined;
  readonly value?: string | undefined;
  readonly parentElement: Element | null;
  readonly shadowRoot?: Root | null | undefined;
  readonly tagName: string;
  getAttribute(name: string): string | null;
  getRootNode(): { readonly host?: Element | undefined };
  getBoundingClientRect(): Box;
  click(): void;
}
interface Root {
  querySelectorAll(selector: string): Iterable<Element>;
}

/**
 * Runs inside a page: clicks away a consent banner, refusing before accepting, and gives what was clicked. Needs nothing from outside
 * itself but its argument, since the browser gets its text. A word counts only within a small block that speaks of cookies or consent.
 */
export const clickConsent = (words: ConsentWords): 'refused' | 'accepted' | 'nothing' => {
  const page = (globalThis as unknown as { document: Root }).document;
  const roots: Root[] = [page];
  for (const root of roots) {
    if (roots.length > 200) break;
    for (const element of root.querySelectorAll('*')) if (element.shadowRoot) roots.push(element.shadowRoot);
  }
  const find = (selector: string): Element[] => roots.flatMap((root) => [...root.querySelectorAll(selector)]);
  const isVisible = (element: Element): boolean => {
    const { width, height } = element.getBoundingClientRect();
    return width > 0 && height > 0;
  };
  const known = find(words.knownRefusals).find(isVisible);
  if (known) {
    known.click();
    return 'refused';
  }
  const subject = new RegExp(words.subject, 'i');
  const isInBanner = (element: Element): boolean => {
    let at: Element | null | undefined = element;
    for (let level = 0; at && level < 10; level += 1) {
      const length = at.textContent?.length ?? 0;
      if (at.tagName === 'BODY' || length > 6000) return false;
      if (length > 40 && subject.test(at.textContent ?? '')) return true;
      at = at.parentElement ?? at.getRootNode().host;
    }
    return false;
  };
  const textOf = (element: Element): string =>
    (element.innerText ?? element.value ?? element.getAttribute('aria-label') ?? '').replaceAll(/\s+/g, ' ').trim();
  const buttons = find('button, [role="button"], input[type="button"], input[type="submit"], a')
    .map((element) => ({ element, text: textOf(element) || (element.value ?? '') }))
    .filter(({ text }) => text !== '' && text.length <= 60);
  for (const [answer, pattern] of [
    ['refused', words.refuse],
    ['accepted', words.accept],
  ] as const) {
    const fits = new RegExp(`^(?:${pattern})[.!]?$`, 'i');
    const found = buttons.find(({ element, text }) => fits.test(text) && isVisible(element) && isInBanner(element));
    if (found) {
      found.element.click();
      return answer;
    }
  }
  return 'nothing';
};
