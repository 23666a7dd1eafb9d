import type { Browser } from 'playwright-core';
import type { Clock, Timer } from '../../kernel/clock.ts';
import { GantryError, messageOf } from '../../kernel/errors.ts';
import type { Log } from '../../kernel/log.ts';
import type { LaunchBrowser } from './launch-chromium.ts';

/** Keeps one browser running while it is used. */
export interface BrowserHolder extends AsyncDisposable {
  readonly isRunning: boolean;
  /**
   * Works with the browser, which is started when it is needed. A browser that ends in the middle is started anew and the work is
   * done once more.
   * @throws {GantryError} `stopped` after disposal; what starting the browser or the work throws.
   */
  use<T>(work: (browser: Browser) => Promise<T>): Promise<T>;
}

/** What a holder needs. */
export interface BrowserHolderOptions {
  readonly launch: LaunchBrowser;
  /** A browser that has done so many works is replaced: what pages leave behind in it goes with it. */
  readonly maxUses: number;
  /** A browser that nobody used for so long is ended. */
  readonly idleMs: number;
  readonly clock: Clock;
  readonly log: Log;
}

interface Held {
  readonly browser: Promise<Browser>;
  users: number;
  uses: number;
}

/** Makes a holder; nothing is started yet. */
export const createBrowserHolder = (options: BrowserHolderOptions): BrowserHolder => {
  const { launch, maxUses, idleMs, clock, log } = options;
  const open = new Set<Held>();
  let current: Held | undefined;
  let idle: Timer | undefined;
  let disposed = false;

  const forget = (held: Held): void => {
    open.delete(held);
    if (current === held) current = undefined;
  };

  const start = (): Held => {
    const held: Held = { browser: launch(), users: 0, uses: 0 };
    open.add(held);
    current = held;
    held.browser.then(
      (browser) => browser.once('disconnected', () => forget(held)),
      () => forget(held),
    );
    return held;
  };

  const end = async (held: Held): Promise<void> => {
    forget(held);
    try {
      await (await held.browser).close();
    } catch (error) {
      // Whoever waited for this browser was told; one that is gone needs no closing.
      log.debug({ reason: messageOf(error) }, 'a browser was gone before it was closed');
    }
  };

  const leave = (held: Held): void => {
    held.users -= 1;
    if (held.users > 0 || disposed) return;
    if (held !== current) void end(held);
    else idle = clock.startTimer(idleMs, () => void end(held));
  };

  const use = async <T>(work: (browser: Browser) => Promise<T>, mayRepeat: boolean): Promise<T> => {
    if (disposed) throw new GantryError('stopped', 'The browser has been stopped.');
    idle?.stop();
    const held = current ?? start();
    held.users += 1;
    held.uses += 1;
    if (held.uses >= maxUses && current === held) current = undefined;
    let browser: Browser | undefined;
    try {
      browser = await held.browser;
      return await work(browser);
    } catch (error) {
      if (!browser || browser.isConnected() || !mayRepeat || disposed) throw error;
      log.warn({ reason: messageOf(error) }, 'the browser ended unexpectedly and is started again');
    } finally {
      leave(held);
    }
    return use(work, false);
  };

  return {
    get isRunning() {
      return open.size > 0;
    },
    use: (work) => use(work, true),
    [Symbol.asyncDispose]: async () => {
      disposed = true;
      idle?.stop();
      await Promise.all([...open].map(end));
    },
  };
};
