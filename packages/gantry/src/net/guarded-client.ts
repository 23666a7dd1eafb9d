import type { Agent, Dispatcher } from 'undici';
import { orAborted, startDeadline } from '../kernel/abort.ts';
import type { Clock } from '../kernel/clock.ts';
import { systemClock } from '../kernel/clock.ts';
import { GantryError } from '../kernel/errors.ts';
import { endDownload } from './bounded-body.ts';
import { isLostConnection, toFetchError } from './fetch-error.ts';
import type { Dial } from './guarded-connector.ts';
import { guardedConnector } from './guarded-connector.ts';
import type { Hop, HopInit } from './hop.ts';
import { firstHop, isRedirect, nextHop } from './hop.ts';
import type { CallLimits, ConnectionLimits } from './limits.ts';
import { defaultCallLimits, defaultConnectionLimits } from './limits.ts';
import type { IsOwnListener } from './address/own-listeners.ts';
import type { NetPolicy } from './address/policy.ts';
import { publicOnly } from './address/policy.ts';
import { proxyDial } from './proxy-dial.ts';
import type { Lookup } from './address/resolve-pinned.ts';
import { createResolver, systemLookup } from './address/resolve-pinned.ts';
import type { Target } from './address/target.ts';
import { parseTarget } from './address/target.ts';
import type { AnsweredHop } from './to-response.ts';
import { toResponse } from './to-response.ts';
import { vetAddresses, vetHostName } from './address/vet.ts';

/** What one call may say, a subset of the fetch standard's `RequestInit` and the limits. */
export interface GuardedInit extends HopInit {
  readonly signal?: AbortSignal | null | undefined;
  /** `follow` (default) goes up to `maxRedirects` hops, `manual` hands the redirect back, `error` fails on one. */
  readonly redirect?: RequestInit['redirect'];
  readonly limits?: Partial<CallLimits> | undefined;
}

/** `fetch` for addresses that somebody else named. Fits wherever a library takes a fetch function. */
export type GuardedFetch = (url: string | URL, init?: GuardedInit) => Promise<Response>;

/** The network as a client sees it. */
export interface Network {
  /** Default: the system's resolver. */
  readonly lookup?: Lookup | undefined;
  /** Opens connections to judged addresses. Default: TCP, and TLS for https. */
  readonly dial?: Dial | undefined;
}

/** What a client may be given. */
export interface GuardedClientOptions extends Network {
  /** Default: only the public internet. */
  readonly policy?: NetPolicy | undefined;
  readonly limits?: Partial<CallLimits & ConnectionLimits> | undefined;
  /** Default: nothing is ours. */
  readonly isOwnListener?: IsOwnListener | undefined;
  /** An HTTP proxy of the operator's. Proxies named by the environment are never used. */
  readonly proxy?: URL | undefined;
  readonly clock?: Clock | undefined;
}

/** A pool of connections under one policy. */
export interface GuardedClient extends AsyncDisposable {
  /**
   * @throws {GantryError} `address_refused` (`details.reason` says why), `timeout`, `cancelled`, `execution_failed`; the body fails
   * with `response_too_large` past `maxBytes`.
   */
  readonly fetch: GuardedFetch;
  /**
   * Judges a URL as {@link fetch} will, without asking for it, and gives it parsed. The addresses found are kept for the fetch.
   *
   * @throws {GantryError} `address_refused`.
   */
  check(url: string | URL, options?: { signal?: AbortSignal | undefined }): Promise<URL>;
  /** Lets running calls finish; new ones fail. Disposing ends them. */
  close(): Promise<void>;
}

/**
 * Makes a client whose every connection goes to an address that policy allows, whatever the URL, its redirects and DNS say. One client
 * per policy: its connections are kept and shared by its calls.
 */
export const createGuardedClient = (options: GuardedClientOptions = {}): GuardedClient => {
  const { policy = publicOnly, isOwnListener = () => false, clock = systemClock, lookup = systemLookup } = options;
  const limits = { ...defaultCallLimits, ...defaultConnectionLimits, ...options.limits };
  const rules = { policy, isOwnListener };
  const resolve = createResolver({ lookup, clock, timeoutMs: limits.dnsMs, pinMs: defaultCallLimits.totalMs });
  let loading: Promise<Agent> | undefined;
  let isClosed = false;
  // The HTTP library takes a tenth of a start, and many processes never fetch anything.
  const openPool = async (): Promise<Agent> => {
    const { Agent, buildConnector } = await import('undici');
    const dialDirect = options.dial ?? buildConnector({ allowH2: false, timeout: limits.connectMs });
    const dial = options.proxy ? proxyDial(options.proxy, dialDirect) : dialDirect;
    const pool = new Agent({
      allowH2: false,
      connect: guardedConnector({ rules, resolve, dial, clock, connectMs: limits.connectMs }),
      maxHeaderSize: limits.maxHeaderBytes,
    });
    if (isClosed) await pool.close();
    return pool;
  };
  const poolOf = (): Promise<Agent> => (loading ??= openPool());

  /** What can be said of a hop without asking anybody; the connector says the rest when it has to connect. */
  const vetTarget = ({ host, port, literal }: Target): void => {
    if (literal) vetAddresses(host, port, [host], rules);
    else vetHostName(host, rules);
  };

  const send = async (hop: Hop, call: CallLimits, signal: AbortSignal): Promise<Dispatcher.ResponseData> => {
    const { url } = hop.target;
    const request = {
      origin: url.origin,
      path: url.pathname + url.search,
      method: hop.method,
      headers: hop.headers,
      body: hop.body,
      signal,
      headersTimeout: toUndiciMs(call.headersMs),
      bodyTimeout: toUndiciMs(call.idleMs),
    };
    const pool = await poolOf();
    try {
      return await pool.request(request);
    } catch (thrown) {
      const repeatable = hop.method === 'GET' || hop.method === 'HEAD';
      if (!repeatable || signal.aborted || !isLostConnection(thrown)) throw thrown;
      // A kept connection can be closed by its server just as it is used again; a second try gets a fresh one.
      return pool.request(request);
    }
  };

  const follow = async (
    first: Hop,
    call: CallLimits,
    redirect: GuardedInit['redirect'],
    signal: AbortSignal,
  ): Promise<AnsweredHop> => {
    let hop = first;
    for (let redirects = 0; ; redirects += 1) {
      try {
        vetTarget(hop.target);
        const answer = await send(hop, call, signal);
        if (!isRedirect(answer.statusCode) || redirect === 'manual') return { hop, answer, redirected: redirects > 0 };
        endDownload(answer.body);
        if (redirect === 'error' || redirects >= call.maxRedirects) throw tooManyRedirects(first, call, redirect);
        hop = nextHop(hop, answer.statusCode, answer.headers.location);
      } catch (thrown) {
        throw toFetchError(thrown, hop.target.host, signal);
      }
    }
  };

  return {
    fetch: async (url, init = {}) => {
      const call = init.limits ? { ...limits, ...init.limits } : limits;
      const first = await firstHop(url, init);
      const deadline = startDeadline(clock, call.totalMs, {
        signal: init.signal ?? undefined,
        onExpiry: () =>
          new GantryError('timeout', `"${first.target.host}" took longer than ${call.totalMs} ms in all.`, {
            details: { host: first.target.host, stage: 'total', timeoutMs: call.totalMs },
          }),
      });
      let answered: AnsweredHop | undefined;
      try {
        answered = await follow(first, call, init.redirect, deadline.signal);
        return toResponse(answered, { maxBytes: call.maxBytes, deadline });
      } catch (thrown) {
        deadline[Symbol.dispose]();
        if (answered) endDownload(answered.answer.body);
        throw thrown;
      }
    },
    check: async (url, { signal } = {}) => {
      const target = parseTarget(url);
      vetTarget(target);
      if (!target.literal) {
        const resolved = resolve(target.host);
        vetAddresses(target.host, target.port, await (signal ? orAborted(resolved, signal) : resolved), rules);
      }
      return target.url;
    },
    close: async () => {
      isClosed = true;
      await (await loading)?.close();
    },
    [Symbol.asyncDispose]: async () => {
      isClosed = true;
      await (await loading)?.destroy();
    },
  };
};

// To undici 0 means no limit.
const toUndiciMs = (limitMs: number): number => (Number.isFinite(limitMs) ? Math.max(1, limitMs) : 0);

const tooManyRedirects = (first: Hop, call: CallLimits, redirect: GuardedInit['redirect']): GantryError => {
  const { host } = first.target;
  const message =
    redirect === 'error'
      ? `"${host}" redirects, and this call follows none.`
      : `"${host}" redirects more than ${call.maxRedirects} times.`;
  return new GantryError('execution_failed', message, { details: { host, maxRedirects: call.maxRedirects } });
};
