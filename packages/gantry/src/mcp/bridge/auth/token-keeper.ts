import type { FetchLike } from '@modelcontextprotocol/client';
import type { Clock } from '../../../kernel/clock.ts';
import { GantryError, messageOf } from '../../../kernel/errors.ts';
import type { Log } from '../../../kernel/log.ts';
import { flattenText } from '../../../text/flatten.ts';
import { scrubText } from '../../../text/scrub.ts';
import { loadSdk } from '../connection/sdk.ts';
import type { Credentials, CredentialStore } from './credential-store.ts';
import { expiryOf } from './credential-store.ts';
import { insufficientScopeOf, unionOfScopes } from './scopes.ts';

/** The bearer token of one server. */
export interface TokenKeeper {
  /** False when nobody has signed in: requests go without a token. */
  isSignedIn(): Promise<boolean>;
  /** The token to send now, renewed shortly before it expires. */
  token(): Promise<string | undefined>;
  /**
   * The server refused this token: gets another one, once for all who ask meanwhile. False when a person has to sign in.
   * @throws {GantryError} `auth_required` when a sign-in without a person was refused; `server_unreachable` when nobody could be asked.
   */
  renew(rejected: string | undefined): Promise<boolean>;
  /**
   * The server wants rights that this token does not give: true when somebody has signed in anew meanwhile. Else the next sign-in asks for
   * them too.
   */
  widen?(rejected: string, scope: string): Promise<boolean>;
  /** True when somebody has signed in since, perhaps in another process. */
  isSignedInAnew?(): Promise<boolean>;
  /** What no log or message may show, as far as it is in memory. */
  secrets(): readonly string[];
}

/** What a keeper works with. */
export interface TokenKeeperOptions {
  readonly server: string;
  readonly serverId: string;
  /** Normalised. */
  readonly url: string;
  readonly credentials: CredentialStore;
  /** Gets credentials without a person, where the entry says how. */
  readonly obtain: (() => Promise<Credentials>) | undefined;
  /** Gives whole responses. */
  readonly fetch: FetchLike;
  readonly clock: Clock;
  readonly log: Log;
}

const renewAheadMs = 30_000;
// Every request asks, and the store is asked for all of them so often; a server that refuses one has it asked at once.
const lookAgainMs = 1_000;

/** Makes the keeper of a server's token. */
export const createTokenKeeper = (options: TokenKeeperOptions): TokenKeeper => {
  const { server, serverId, url, credentials, obtain, clock, log } = options;
  let known: Credentials | undefined;
  let renewing: Promise<boolean> | undefined;

  let lookedAtMs = Number.NEGATIVE_INFINITY;

  // Without a token it is looked again: somebody may have signed in in another process.
  const current = async (): Promise<Credentials | undefined> => {
    if (known?.tokens || clock.elapsedMs() - lookedAtMs < lookAgainMs) return known;
    lookedAtMs = clock.elapsedMs();
    return (known = await credentials.get(serverId, url));
  };

  const keep = async (fresh: Credentials): Promise<boolean> => {
    await credentials.put(serverId, fresh);
    known = fresh;
    return true;
  };

  const renewed = async (used: Credentials, refreshToken: string): Promise<boolean> => {
    const { refreshAuthorization, OAuthError } = await loadSdk();
    const { authorizationServerUrl, metadata, client, resource } = used;
    try {
      const tokens = await refreshAuthorization(authorizationServerUrl, {
        clientInformation: client,
        refreshToken,
        fetchFn: options.fetch,
        ...(metadata ? { metadata } : {}),
        ...(resource === undefined ? {} : { resource }),
      });
      return await keep({ ...used, tokens, expiresAtMs: expiryOf(tokens, clock.nowMs()) });
    } catch (error) {
      if (!(error instanceof OAuthError) || error.code !== 'invalid_grant') throw error;
      // A refresh token may be good for one use: another process may have used it, and what that got is newer.
      const now = await credentials.get(serverId, url);
      if (now?.tokens && now.tokens.access_token !== used.tokens?.access_token) {
        known = now;
        return true;
      }
      log.warn({ server }, `The sign-in of server "${server}" is over; sign in with "gantry servers login ${server}".`);
      await keep({ ...used, tokens: undefined, expiresAtMs: undefined });
      return false;
    }
  };

  const renewNow = async (rejected: string | undefined): Promise<boolean> => {
    // What is stored may be newer than what is remembered.
    known = await credentials.get(serverId, url);
    if (known?.tokens && known.tokens.access_token !== rejected) return true;
    if (obtain) return await keep(await obtain());
    const refreshToken = known?.tokens?.refresh_token;
    return known && refreshToken !== undefined ? await renewed(known, refreshToken) : false;
  };

  const renew = async (rejected: string | undefined): Promise<boolean> => {
    const held = (await current())?.tokens?.access_token;
    if (held !== undefined && held !== rejected) return true;
    renewing ??= credentials.alone(serverId, () => renewNow(rejected)).finally(() => (renewing = undefined));
    try {
      return await renewing;
    } catch (error) {
      if (GantryError.is(error) && error.code === 'auth_required') throw error;
      throw new GantryError(
        'server_unreachable',
        `The sign-in of server "${server}" could not be renewed: ${scrubText(messageOf(error)).slice(0, 300)}`,
        { details: { name: server }, retry: 'same', cause: error },
      );
    }
  };

  return {
    isSignedIn: async () => obtain !== undefined || (await current())?.tokens !== undefined,
    token: async () => {
      const held = await current();
      const token = held?.tokens?.access_token;
      const isDue = held?.expiresAtMs !== undefined && held.expiresAtMs - renewAheadMs <= clock.nowMs();
      if (token !== undefined && !isDue) return token;
      if (token === undefined && !obtain) return undefined;
      try {
        await renew(token);
      } catch (error) {
        if (token === undefined || (held?.expiresAtMs ?? 0) <= clock.nowMs()) throw error;
        log.debug({ server, reason: messageOf(error) }, 'a token could not be renewed ahead of time');
      }
      return known?.tokens?.access_token;
    },
    renew,
    widen: async (rejected, scope) => {
      known = await credentials.get(serverId, url);
      if (known?.tokens?.access_token !== rejected) return known?.tokens !== undefined;
      return !(await keep({ ...known, wantedScope: unionOfScopes(known.wantedScope, scope) }));
    },
    isSignedInAnew: async () => {
      const stored = (await credentials.get(serverId, url))?.tokens?.access_token;
      return stored !== undefined && stored !== known?.tokens?.access_token;
    },
    secrets: () => {
      const { access_token: access, refresh_token: refresh } = known?.tokens ?? {};
      return [access, refresh].filter((token) => token !== undefined);
    },
  };
};

/**
 * Sends the server's token with every request to its own origin, and once more with a new one when the server refuses it. Where the token
 * does not give enough rights the request fails with `auth_required`, its details with status 403.
 */
export const withToken = (fetch: FetchLike, keeper: TokenKeeper, serverUrl: URL, server: string): FetchLike => {
  const send = (url: string | URL, init: RequestInit | undefined, token: string): Promise<Response> => {
    const headers = new Headers(init?.headers);
    headers.set('authorization', `Bearer ${token}`);
    return fetch(url, { ...init, headers });
  };
  const newToken = (answer: Response, token: string): Promise<boolean> | undefined => {
    if (answer.status === 401) return keeper.renew(token);
    const scope = insufficientScopeOf(answer);
    return scope === undefined ? undefined : keeper.widen?.(token, scope);
  };
  return async (url, init) => {
    const { origin } = url instanceof URL ? url : new URL(url);
    if (origin !== serverUrl.origin) return await fetch(url, init);
    const token = await keeper.token();
    if (token === undefined) {
      const answer = await fetch(url, init);
      if (answer.status !== 401 || !(await keeper.renew(undefined))) return answer;
      await answer.text();
      return await send(url, init, (await keeper.token()) ?? '');
    }
    let answer = await send(url, init, token);
    if (await newToken(answer, token)) {
      // An answer that is not read holds its connection.
      await answer.text();
      answer = await send(url, init, (await keeper.token()) ?? token);
    }
    const scope = keeper.widen && insufficientScopeOf(answer);
    if (scope === undefined) return answer;
    await answer.text();
    throw new GantryError(
      'auth_required',
      `Server "${server}" wants rights that its sign-in does not give${scope === '' ? '' : ` (scope "${flattenText(scope, { maxChars: 300 })}")`}. Sign in again with "gantry servers login ${server}" to ask for them.`,
      { details: { server, status: 403 } },
    );
  };
};
