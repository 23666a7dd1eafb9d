import { EventEmitter } from 'node:events';
import type { Browser } from 'playwright-core';
import { expect, it } from 'vitest';
import { silentLog } from '../../kernel/log.ts';
import type { FakeClock } from '../../testing/fake-clock.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import type { BrowserHolder } from './browser-holder.ts';
import { createBrowserHolder } from './browser-holder.ts';

interface FakeBrowser {
  readonly number: number;
  readonly closed: () => boolean;
  crash(): void;
}

/** A holder of browsers that exist only as numbers. */
const make = (options: { maxUses?: number; failFirst?: boolean } = {}) => {
  const clock: FakeClock = fakeClock();
  const browsers: FakeBrowser[] = [];
  let launches = 0;
  const holder: BrowserHolder = createBrowserHolder({
    launch: async () => {
      launches += 1;
      if (options.failFirst === true && launches === 1) throw new Error('no memory');
      let connected = true;
      const events = new EventEmitter();
      const stop = (): void => {
        connected = false;
        events.emit('disconnected');
      };
      const number = browsers.length + 1;
      browsers.push({ number, closed: () => !connected, crash: stop });
      const browser = {
        version: () => String(number),
        once: (name: string, run: () => void) => events.once(name, run),
        isConnected: () => connected,
        close: async () => stop(),
      };
      return browser as unknown as Browser;
    },
    maxUses: options.maxUses ?? 100,
    idleMs: 1000,
    clock,
    log: silentLog,
  });
  const number = (): Promise<string> => holder.use(async (browser) => browser.version());
  return { clock, browsers, holder, number };
};

it('starts one browser for everybody and ends it when nobody used it for a while', async () => {
  const { clock, browsers, holder, number } = make();
  expect(await Promise.all([number(), number()])).toEqual(['1', '1']);
  await clock.advance(999);
  expect(await number()).toBe('1');
  await clock.advance(999);
  expect(holder.isRunning).toBe(true);
  await clock.advance(1);
  expect(browsers[0]?.closed()).toBe(true);
  expect(await number()).toBe('2');
});

it('replaces a browser after its last use, when the work in it is done', async () => {
  const { browsers, holder, number } = make({ maxUses: 2 });
  const work = Promise.withResolvers<void>();
  const long = holder.use(() => work.promise);
  expect([await number(), await number()]).toEqual(['1', '2']);
  expect(browsers[0]?.closed()).toBe(false);
  work.resolve();
  await long;
  expect(browsers.map((browser) => browser.closed())).toEqual([true, false]);
});

it('does the work once more in a new browser when the first one ended under it, and only once', async () => {
  const { browsers, holder } = make();
  const tried: string[] = [];
  const crashing = (times: number) => async (browser: Browser) => {
    tried.push(browser.version());
    if (tried.length > times) return 'done';
    browsers.at(-1)?.crash();
    throw new Error('closed');
  };
  expect(await holder.use(crashing(1))).toBe('done');
  expect(tried).toEqual(['1', '2']);
  tried.length = 0;
  await expect(holder.use(crashing(2))).rejects.toThrow('closed');
  expect(tried).toHaveLength(2);
});

it('tries again after a browser that did not start, and gives the error of the work otherwise', async () => {
  const { holder, number } = make({ failFirst: true });
  await expect(number()).rejects.toThrow('no memory');
  expect(await number()).toBe('1');
  await expect(holder.use(() => Promise.reject(new Error('mine')))).rejects.toThrow('mine');
  expect(await number()).toBe('1');
});

it('ends every browser when it is disposed and starts none after that', async () => {
  const { clock, browsers, holder, number } = make();
  await number();
  await holder[Symbol.asyncDispose]();
  expect(browsers[0]?.closed()).toBe(true);
  await expect(number()).rejects.toMatchObject({ code: 'stopped' });
  expect(clock.pendingTimers).toBe(0);
});
