import type { PageSignals } from '../html/convert-page.ts';

/** What stood in for a page that was not there. */
export type ShellStatus = 'blocked_by_consent_wall' | 'js_required' | 'empty';

const barelyAnyChars = 40;
const mostlyConsent = 0.6;

/**
 * Judges whether a page is the page or a shell standing in for it; undefined for a page. Enough readable text is a page, unless
 * nearly all of it speaks of consent. A short text without any sign of a wall or a loader is a short page.
 */
export const shellStatusOf = (signals: PageSignals, minContentChars: number): ShellStatus | undefined => {
  const { readableChars, consent, consentShare, loader, scripts } = signals;
  if (readableChars >= minContentChars) return consentShare >= mostlyConsent ? 'blocked_by_consent_wall' : undefined;
  if (consent || consentShare >= mostlyConsent) return 'blocked_by_consent_wall';
  if (loader) return 'js_required';
  if (readableChars >= barelyAnyChars) return undefined;
  return scripts > 0 ? 'js_required' : 'empty';
};

/** What is known about rendering when a shell is reported. */
export type RenderingTried = 'unavailable' | 'failed' | 'no better' | 'not tried';

/** The line that tells a model that the page's body was not read. */
export const statusLine = (tool: string, status: ShellStatus, rendering: RenderingTried): string =>
  `[${tool} status: ${status}] ${answers[status]}; the page body was NOT read. ${renderings[rendering]}` +
  `Do not present facts about this page as confirmed: say that it could not be read, or use another source.`;

const answers: Readonly<Record<ShellStatus, string>> = {
  blocked_by_consent_wall: 'The site answered with a cookie-consent wall',
  js_required: 'The site answered with a loader that needs JavaScript',
  empty: 'The site answered with a page that holds no readable text',
};

const renderings: Readonly<Record<RenderingTried, string>> = {
  unavailable: 'Headless rendering is not available in this deployment. ',
  failed: 'Headless rendering was tried and failed. ',
  'no better': 'Headless rendering was tried and got no further. ',
  'not tried': '',
};
