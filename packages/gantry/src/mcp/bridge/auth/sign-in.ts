import { randomBytes } from 'node:crypto';
import type {
  FetchLike,
  OAuthClientInformationMixed,
  OAuthClientProvider,
  OAuthDiscoveryState,
  OAuthTokens,
} from '@modelcontextprotocol/client';
import type { Clock } from '../../../kernel/clock.ts';
import { GantryError, messageOf } from '../../../kernel/errors.ts';
import { scrubText } from '../../../text/scrub.ts';
import { maskSecretsOf } from '../config/entry-secrets.ts';
import type { ServerEntry } from '../config/server-entry.ts';
import { expandVariables } from '../config/server-entry.ts';
import { loadSdk } from '../connection/sdk.ts';
import type { Credentials } from './credential-store.ts';
import { expiryOf } from './credential-store.ts';
import { unionOfScopes } from './scopes.ts';

/** A server to sign in to. */
export interface SignInTarget {
  readonly name: string;
  readonly entry: ServerEntry;
  /** Normalised. */
  readonly url: string;
  /** Gives whole responses. */
  readonly fetch: FetchLike;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** Rights to ask for beside what the server says it wants now; an operator's `oauth.scope` goes before both. */
  readonly alsoScope?: string | undefined;
}

/** A sign-in that waits for a person. It holds secrets, and survives JSON: another process may finish it. */
export interface StartedSignIn {
  /** Where the person goes. */
  readonly authorizationUrl: string;
  /** Comes back with the code. */
  readonly state: string;
  readonly redirectUrl: string;
  readonly client?: OAuthClientInformationMixed | undefined;
  readonly verifier: string;
  readonly discovery?: OAuthDiscoveryState | undefined;
  readonly resource?: string | undefined;
}

/**
 * Begins a sign-in with an authorization code and PKCE: finds the authorization server (RFC 9728, RFC 8414) and registers as a client
 * where the entry names none (RFC 7591).
 * @throws {GantryError} `auth_required` with the reason.
 */
export const startSignIn = async (target: SignInTarget, redirectUrl: string): Promise<StartedSignIn> => {
  const state = randomBytes(32).toString('base64url');
  const draft = createDraft(target, { redirectUrl, state });
  const { auth } = await loadSdk();
  await explained(target, async () => {
    const challenge = await challengeOf(target);
    await auth(draft.provider, { serverUrl: target.url, fetchFn: target.fetch, ...challenge });
  });
  const { authorizationUrl, ...kept } = draft.kept();
  if (authorizationUrl === undefined)
    throw failed(target.name, 'it gave no address to sign in at; it may not need a sign-in');
  return { ...kept, authorizationUrl, state, redirectUrl };
};

/**
 * Exchanges the code that came back.
 * @throws {GantryError} `auth_required` when the server does not take it.
 */
export const finishSignIn = async (
  target: SignInTarget,
  started: StartedSignIn,
  { code, iss }: { readonly code: string; readonly iss?: string | undefined },
): Promise<Credentials> => {
  const draft = createDraft(target, started);
  const { auth } = await loadSdk();
  await explained(target, () =>
    auth(draft.provider, {
      serverUrl: target.url,
      authorizationCode: code,
      fetchFn: target.fetch,
      ...(iss === undefined ? {} : { iss }),
    }),
  );
  return draft.credentials();
};

/**
 * Signs in without a person (`client_credentials`).
 * @throws {GantryError} `auth_required` with the reason.
 */
export const signInAsClient = async (target: SignInTarget): Promise<Credentials> => {
  const draft = createDraft(target, undefined);
  const { auth } = await loadSdk();
  await explained(target, async () => {
    const challenge = await challengeOf(target);
    await auth(draft.provider, { serverUrl: target.url, fetchFn: target.fetch, ...challenge });
  });
  return draft.credentials();
};

interface Draft {
  readonly provider: OAuthClientProvider;
  kept(): KeptDraft;
  /** @throws {GantryError} `auth_required` when there are no tokens yet. */
  credentials(): Credentials;
}

type KeptDraft = Pick<StartedSignIn, 'client' | 'verifier' | 'discovery' | 'resource'> & {
  readonly authorizationUrl?: string | undefined;
};

/** What the SDK keeps during one sign-in. */
const createDraft = (
  target: SignInTarget,
  interactive: ({ readonly redirectUrl: string; readonly state: string } & Partial<KeptDraft>) | undefined,
): Draft => {
  const { name, entry, url, env, clock } = target;
  const { oauth = {} } = entry;
  const clientId = oauth.clientId && expandVariables(oauth.clientId, env);
  const clientSecret = oauth.clientSecret && expandVariables(oauth.clientSecret, env);
  let client: OAuthClientInformationMixed | undefined = clientId
    ? { client_id: clientId, ...(clientSecret ? { client_secret: clientSecret } : {}) }
    : interactive?.client;
  let tokens: OAuthTokens | undefined;
  let { verifier = '', discovery, resource, authorizationUrl }: Partial<KeptDraft> = interactive ?? {};

  const provider: OAuthClientProvider = {
    redirectUrl: interactive?.redirectUrl,
    clientMetadata: {
      client_name: 'Gantry',
      redirect_uris: interactive ? [interactive.redirectUrl] : [],
      token_endpoint_auth_method: clientSecret ? 'client_secret_basic' : 'none',
      ...(interactive ? {} : { grant_types: ['client_credentials'] }),
      ...(oauth.scope === undefined ? {} : { scope: oauth.scope }),
    },
    // A client that the operator named is meant for whatever authorization server its server names.
    clientInformation: (context) => client && { ...(context ? { issuer: context.issuer } : {}), ...client },
    saveClientInformation: (given) => {
      client = given;
    },
    tokens: () => undefined,
    saveTokens: (given) => {
      tokens = given;
    },
    redirectToAuthorization: (to) => {
      authorizationUrl = to.href;
    },
    saveCodeVerifier: (given) => {
      verifier = given;
    },
    codeVerifier: () => verifier,
    saveDiscoveryState: (given) => {
      discovery = given;
    },
    discoveryState: () => discovery,
    // Else the SDK would begin anew, and the reason would be lost.
    invalidateCredentials: () => {
      throw failed(
        name,
        'the authorization server refused the client or the code; check "oauth" in its entry, or sign in again',
      );
    },
    saveResourceUrl: (given) => {
      resource = given;
    },
    ...(interactive
      ? { state: () => interactive.state }
      : {
          prepareTokenRequest: (scope?: string) =>
            new URLSearchParams({ grant_type: 'client_credentials', ...(scope ? { scope } : {}) }),
        }),
  };

  return {
    provider,
    kept: () => ({ client, verifier, discovery, resource, authorizationUrl }),
    credentials: () => {
      if (!client || !tokens || !discovery) throw failed(name, 'it gave no tokens');
      return {
        url,
        authorizationServerUrl: discovery.authorizationServerUrl,
        metadata: discovery.authorizationServerMetadata,
        client,
        resource,
        tokens,
        scope: scopeOf(authorizationUrl) ?? tokens.scope,
        expiresAtMs: expiryOf(tokens, clock.nowMs()),
      };
    },
  };
};

const scopeOf = (authorizationUrl: string | undefined): string | undefined =>
  (authorizationUrl !== undefined && new URL(authorizationUrl).searchParams.get('scope')) || undefined;

/** What the server says about signing in when it is asked without a token: where its metadata is, and which scope it wants. */
const challengeOf = async ({
  url,
  fetch,
  entry,
  alsoScope,
}: SignInTarget): Promise<{ resourceMetadataUrl?: URL; scope?: string }> => {
  const { extractWWWAuthenticateParams } = await loadSdk();
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
  });
  const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(answer);
  await answer.body?.cancel();
  const wanted = entry.oauth?.scope ?? unionOfScopes(alsoScope, scope);
  return {
    ...(resourceMetadataUrl ? { resourceMetadataUrl } : {}),
    ...(wanted === undefined ? {} : { scope: wanted }),
  };
};

const explained = async <T>({ name, entry, env }: SignInTarget, work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    const mask = maskSecretsOf(entry, env);
    throw GantryError.is(error) ? error : failed(name, scrubText(mask(messageOf(error))).slice(0, 500), error);
  }
};

const failed = (name: string, reason: string, cause?: unknown): GantryError =>
  new GantryError('auth_required', `Signing in to server "${name}" failed: ${reason}.`, {
    details: { server: name },
    cause,
  });
