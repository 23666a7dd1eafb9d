import { describe, expect, it } from 'vitest';
import type { PageSignals } from '../html/convert-page.ts';
import { shellStatusOf, statusLine } from './shell-status.ts';

const page: PageSignals = { readableChars: 1000, consent: false, consentShare: 0, loader: false, scripts: 0 };

describe('shellStatusOf', () => {
  it.each([
    ['enough text is a page', { readableChars: 200, consent: true, loader: true }, undefined],
    ['one character less beside a banner is a wall', { readableChars: 199, consent: true }, 'blocked_by_consent_wall'],
    ['a short text about consent is a wall', { readableChars: 150, consentShare: 0.8 }, 'blocked_by_consent_wall'],
    [
      'much text about nothing but consent is a wall',
      { readableChars: 900, consentShare: 0.9 },
      'blocked_by_consent_wall',
    ],
    ['little text and a loader needs JavaScript', { readableChars: 20, loader: true }, 'js_required'],
    ['nothing but scripts needs JavaScript', { readableChars: 0, scripts: 4 }, 'js_required'],
    ['nothing at all is empty', { readableChars: 0 }, 'empty'],
    ['a short text without any sign is a page', { readableChars: 150, scripts: 2 }, undefined],
  ] as const)('%s', (_rule, signals, status) => {
    expect(shellStatusOf({ ...page, ...signals }, 200)).toBe(status);
  });
});

describe('statusLine', () => {
  it('says what answered, what was tried and that nothing is confirmed', () => {
    expect(statusLine('web_browse', 'blocked_by_consent_wall', 'unavailable')).toBe(
      '[web_browse status: blocked_by_consent_wall] The site answered with a cookie-consent wall; the page body was NOT read. Headless rendering is not available in this deployment. Do not present facts about this page as confirmed: say that it could not be read, or use another source.',
    );
    expect(statusLine('web_browse', 'js_required', 'failed')).toContain('was tried and failed');
  });
});
