import { expect, it } from 'vitest';
import { findChromium } from './find-chromium.ts';

it('takes Chromium before Chrome, wherever in PATH they are, and nothing where neither is', () => {
  const installed = (...paths: string[]) => ({
    env: { PATH: '/usr/local/bin::/usr/bin' },
    has: (path: string) => paths.includes(path),
  });
  const both = installed('/usr/local/bin/google-chrome', '/usr/bin/chromium');
  expect(findChromium(both.env, both.has)).toBe('/usr/bin/chromium');
  const chrome = installed('/usr/bin/google-chrome');
  expect(findChromium(chrome.env, chrome.has)).toBe('/usr/bin/google-chrome');
  expect(findChromium({}, () => false)).toBeUndefined();
});
