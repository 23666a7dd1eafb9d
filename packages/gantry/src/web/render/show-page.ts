import type { Browser, BrowserContext, Page } from 'playwright-core';
import { orAborted } from '../../kernel/abort.ts';
import { GantryError, messageOf } from '../../kernel/errors.ts';
import type { Log } from '../../kernel/log.ts';
import type { RenderedPage } from '../read/render-page.ts';
import { clickConsent, consentWords } from './consent-clicks.ts';
import type { JudgeUrl } from './judge-url.ts';
import { htmlOf, untilQuiet } from './settle-page.ts';

/** How one page is shown. */
export interface ShowPageOptions {
  /** The way out of this page; see the policy proxy. */
  readonly proxyUrl: string;
  readonly judge: JudgeUrl;
  readonly maxHtmlChars: number;
  /** The page is given up when it aborts. */
  readonly signal: AbortSignal;
  readonly log: Log;
}

/** Not needed to read a page, and the larger part of most. */
const leftOut: ReadonlySet<string> = new Set(['image', 'media', 'font']);
const networkQuietMs = 3000;
const changes = { quietMs: 300, atMostMs: 2000 };

/**
 * Shows one page in a context of its own: no cookies, storage or workers of other pages. Waits until it has stopped changing, clicks a
 * consent banner away and gives the page as it then is.
 *
 * @throws {GantryError} `address_refused` when the page, or where it leads, may not be fetched; the signal's reason; `execution_failed`.
 */
export const showPage = async (browser: Browser, url: string, options: ShowPageOptions): Promise<RenderedPage> => {
  const { proxyUrl, judge, signal } = options;
  await judge(url, signal);
  const context = await orAborted(
    browser.newContext({
      proxy: { server: proxyUrl, bypass: '<-loopback>' },
      userAgent: agentOf(browser),
      locale: 'en-US',
      acceptDownloads: false,
      serviceWorkers: 'block',
    }),
    signal,
  );
  try {
    return await orAborted(inContext(context, url, options), signal);
  } finally {
    await closeContext(context, options.log);
  }
};

const inContext = async (context: BrowserContext, url: string, options: ShowPageOptions): Promise<RenderedPage> => {
  const { judge, maxHtmlChars, signal, log } = options;
  await context.route(
    (target) => target.protocol.startsWith('http'),
    async (route) => {
      if (leftOut.has(route.request().resourceType())) await route.abort();
      else await route.continue();
    },
  );
  const page = await context.newPage();
  // A page that opens others is read alone.
  context.on('page', (other) => void closePage(other, log));
  let status = 0;
  let asked = url;
  page.on('request', (request) => {
    if (request.isNavigationRequest() && request.frame() === page.mainFrame()) asked = request.url();
  });
  page.on('response', (response) => {
    const request = response.request();
    if (request.isNavigationRequest() && request.frame() === page.mainFrame()) status = response.status();
  });
  const crashed = new Promise<never>((_resolve, reject) => {
    page.once('crash', () =>
      reject(new GantryError('execution_failed', `The page "${url}" crashed the browser's tab.`)),
    );
  });
  const read = async (): Promise<RenderedPage> => {
    try {
      await page.goto(url, { waitUntil: 'domcontentloaded', timeout: 0 });
    } catch (error) {
      // Where a redirect led may be what was refused; the judge says so better than the browser.
      await judge(asked, signal);
      const [line] = messageOf(error)
        .replace(/^page\.goto: /, '')
        .split('\n');
      throw new GantryError('execution_failed', `The browser could not open the page: ${line}.`, { cause: error });
    }
    await untilLoaded(page);
    const clicked = await clickAway(page, log);
    if (clicked) await page.evaluate(untilQuiet, changes);
    const landing = page.url();
    await judge(landing, signal);
    const html: unknown = await page.evaluate(htmlOf, maxHtmlChars);
    // The page's own scripts can put anything in the place of what is asked of it.
    if (typeof html !== 'string')
      throw new GantryError('execution_failed', `The page "${url}" gives no HTML of itself.`);
    return { url: landing, status, title: await page.title(), html: html.slice(0, maxHtmlChars) };
  };
  return Promise.race([read(), crashed]);
};

const untilLoaded = async (page: Page): Promise<void> => {
  try {
    await page.waitForLoadState('networkidle', { timeout: networkQuietMs });
  } catch (error) {
    // Pages that never stop talking to their server are read as far as they are.
    if (!(error instanceof Error) || error.name !== 'TimeoutError') throw error;
  }
  await page.evaluate(untilQuiet, changes);
};

/** Consent managers often sit in a frame of their own, so every frame is tried until one had something to click. */
const clickAway = async (page: Page, log: Log): Promise<boolean> => {
  for (const frame of page.frames()) {
    try {
      const answer = await frame.evaluate(clickConsent, consentWords);
      if (answer !== 'nothing') {
        log.debug({ url: page.url(), answer }, 'a consent banner was clicked away');
        return true;
      }
    } catch (error) {
      if (page.isClosed()) throw error;
      // A frame can go away while it is asked; the page is read all the same.
      log.debug({ reason: messageOf(error) }, 'a frame was not searched for a consent banner');
    }
  }
  return false;
};

/** What sites take for a desktop browser: Chromium's own, without the word that it is headless. */
const agentOf = (browser: Browser): string => {
  const [major = '150'] = browser.version().split('.');
  return `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${major}.0.0.0 Safari/537.36`;
};

const closePage = async (page: Page, log: Log): Promise<void> => {
  try {
    await page.close();
  } catch (error) {
    log.debug({ reason: messageOf(error) }, 'a window was gone before it was closed');
  }
};

const closeContext = async (context: BrowserContext, log: Log): Promise<void> => {
  try {
    await context.close();
  } catch (error) {
    log.debug({ reason: messageOf(error) }, 'a context was gone before it was closed');
  }
};
