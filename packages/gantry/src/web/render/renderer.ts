import type { buildConnector } from 'undici';
import { abortReason, startDeadline } from '../../kernel/abort.ts';
import type { Clock } from '../../kernel/clock.ts';
import { systemClock } from '../../kernel/clock.ts';
import { GantryError, messageOf } from '../../kernel/errors.ts';
import type { Log } from '../../kernel/log.ts';
import type { IsOwnListener } from '../../net/address/own-listeners.ts';
import { createOwnListeners } from '../../net/address/own-listeners.ts';
import type { NetPolicy } from '../../net/address/policy.ts';
import type { Lookup } from '../../net/address/resolve-pinned.ts';
import { createResolver, systemLookup } from '../../net/address/resolve-pinned.ts';
import type { Dial } from '../../net/guarded-connector.ts';
import { guardedConnector } from '../../net/guarded-connector.ts';
import { defaultConnectionLimits } from '../../net/limits.ts';
import type { RenderedPage } from '../read/render-page.ts';
import { createBrowserHolder } from './browser-holder.ts';
import { createJudgeUrl } from './judge-url.ts';
import type { LaunchBrowser } from './launch-chromium.ts';
import { startPolicyProxy } from './policy-proxy.ts';
import { showPage } from './show-page.ts';
import { createSlots } from './slots.ts';

/** What rendering may cost. */
export interface RenderLimits {
  /** Pages at a time. */
  readonly maxPages: number;
  /** Pages that wait for their turn; more are refused. */
  readonly maxWaiting: number;
  /** For a page that asks for no time, its wait included. */
  readonly timeoutMs: number;
  /** The most a page can ask for. */
  readonly maxTimeoutMs: number;
  /** All that one page may download, bytes as they travel. */
  readonly maxBytes: number;
  readonly maxHtmlChars: number;
  /** The browser is replaced after so many pages. */
  readonly pagesPerBrowser: number;
  /** The browser is ended when no page came for so long. */
  readonly idleMs: number;
}

/** The limits where nothing is said. */
export const defaultRenderLimits: RenderLimits = {
  maxPages: 2,
  maxWaiting: 20,
  timeoutMs: 30_000,
  maxTimeoutMs: 60_000,
  maxBytes: 50 * 1024 * 1024,
  maxHtmlChars: 5_000_000,
  pagesPerBrowser: 100,
  idleMs: 60_000,
};

/** What a renderer is made of. */
export interface RendererOptions {
  readonly launch: LaunchBrowser;
  readonly policy: NetPolicy;
  readonly log: Log;
  /** Default: nothing is ours. */
  readonly isOwnListener?: IsOwnListener | undefined;
  readonly limits?: Partial<RenderLimits> | undefined;
  readonly clock?: Clock | undefined;
  /** Default: the system's resolver. */
  readonly lookup?: Lookup | undefined;
  /** Opens connections to judged addresses. Default: TCP. */
  readonly dial?: Dial | undefined;
}

/** How a renderer stands. */
export interface RenderHealth {
  /** True while a browser runs; it is started with the first page. */
  readonly browser: boolean;
  readonly running: number;
  readonly waiting: number;
}

/** Renders pages in a headless browser. Disposing ends the browser and every page in it. */
export interface Renderer extends AsyncDisposable {
  /**
   * @throws {GantryError} `address_refused` when the page or where it leads may not be fetched; `timeout`, `cancelled`,
   * `limit_reached`, `execution_failed`, `package_missing`, `stopped`.
   */
  render(
    url: string,
    options?: { readonly timeoutMs?: number | undefined; readonly signal?: AbortSignal | undefined },
  ): Promise<RenderedPage>;
  health(): RenderHealth;
}

/**
 * Makes a renderer. Page, redirects, subresources, frames and sockets all leave the browser through a proxy of their page that dials
 * only addresses which `policy` allows.
 */
export const createRenderer = (options: RendererOptions): Renderer => {
  const { launch, policy, log, clock = systemClock, lookup = systemLookup } = options;
  const limits: RenderLimits = { ...defaultRenderLimits, ...options.limits };
  const { connectMs, dnsMs } = defaultConnectionLimits;
  const proxies = createOwnListeners();
  const isOwnListener: IsOwnListener = (address, port) =>
    proxies.isOwnListener(address, port) || (options.isOwnListener?.(address, port) ?? false);
  const rules = { policy, isOwnListener };
  const resolve = createResolver({ lookup, clock, timeoutMs: dnsMs, pinMs: limits.maxTimeoutMs });
  const openConnector = async (): Promise<buildConnector.connector> => {
    const dial = options.dial ?? (await import('undici')).buildConnector({ allowH2: false, timeout: connectMs });
    return guardedConnector({ rules, resolve, dial, clock, connectMs });
  };
  let connecting: Promise<buildConnector.connector> | undefined;
  const judge = createJudgeUrl(rules, resolve);
  const slots = createSlots(limits.maxPages, limits.maxWaiting);
  const stopping = new AbortController();
  const holder = createBrowserHolder({
    launch,
    maxUses: limits.pagesPerBrowser,
    idleMs: limits.idleMs,
    clock,
    log,
  });

  const renderOne = async (url: string, signal: AbortSignal): Promise<RenderedPage> => {
    await using proxy = await startPolicyProxy({
      connect: await (connecting ??= openConnector()),
      maxBytes: limits.maxBytes,
      onProblem: (host, error) => log.info({ url, host, reason: error.message }, 'a request of a rendered page failed'),
    });
    using _listener = proxies.add(proxy.port);
    const { maxHtmlChars } = limits;
    return await holder.use((browser) =>
      showPage(browser, url, { proxyUrl: proxy.url, judge, maxHtmlChars, signal, log }),
    );
  };

  const renderWithin: Renderer['render'] = async (url, { timeoutMs = limits.timeoutMs, signal } = {}) => {
    const budgetMs = Math.min(timeoutMs, limits.maxTimeoutMs);
    const either = signal ? AbortSignal.any([signal, stopping.signal]) : stopping.signal;
    using deadline = startDeadline(clock, budgetMs, {
      signal: either,
      onExpiry: () =>
        new GantryError('timeout', `The page was not rendered within ${budgetMs} ms.`, {
          details: { timeoutMs: budgetMs },
        }),
    });
    // A page that may not be fetched does not wait for its turn to be told so.
    await judge(url, deadline.signal);
    using _slot = await slots.take(deadline.signal);
    try {
      return await renderOne(url, deadline.signal);
    } catch (error) {
      if (deadline.signal.aborted) throw abortReason(deadline.signal);
      if (GantryError.is(error)) throw error;
      const [line] = messageOf(error).split('\n');
      throw new GantryError('execution_failed', `The page could not be rendered: ${line}.`, {
        retry: 'later',
        cause: error,
      });
    }
  };

  const rendering = new Set<Promise<unknown>>();
  return {
    render: (url, how) => {
      const page = renderWithin(url, how);
      const settled = page.then(ignore, ignore).finally(() => rendering.delete(settled));
      rendering.add(settled);
      return page;
    },
    health: () => ({ browser: holder.isRunning, running: slots.running, waiting: slots.waiting }),
    [Symbol.asyncDispose]: async () => {
      stopping.abort(new GantryError('stopped', 'Rendering has been stopped.'));
      await holder[Symbol.asyncDispose]();
      await Promise.all(rendering);
    },
  };
};

const ignore = (): void => {};
