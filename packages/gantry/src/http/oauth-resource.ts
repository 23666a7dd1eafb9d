import type { JWTPayload } from 'jose';
import { messageOf } from '../kernel/errors.ts';
import { isObject } from '../kernel/json.ts';
import type { Log } from '../kernel/log.ts';
import type { AccessScope } from '../operations/access/token-shelf.ts';
import { accessScopes } from '../operations/access/token-shelf.ts';
import type { Authenticate } from './authenticate.ts';

/** The authorization server whose tokens are taken. */
export interface OAuthResourceSettings {
  /** Its issuer URL; tokens must name it in `iss`. */
  readonly issuer: string;
  /** What tokens must name in `aud`: this gateway. */
  readonly audience: string;
  /** Where its keys are; default what its metadata says. */
  readonly jwksUri?: string | undefined;
}

/** Path of the metadata that clients look for first (RFC 9728). */
export const resourceMetadataPath = '/.well-known/oauth-protected-resource';

/** The metadata of a resource of this gateway. */
export const resourceMetadata = (
  settings: Pick<OAuthResourceSettings, 'issuer'>,
  resource: string,
): Readonly<Record<string, unknown>> => ({
  resource,
  authorization_servers: [settings.issuer],
  scopes_supported: accessScopes,
  bearer_methods_supported: ['header'],
});

// Symmetric algorithms would make everybody who can check a token able to make one.
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];

/**
 * Takes access tokens that are JWTs of one authorization server (RFC 9068): signature, issuer, audience and expiry are checked. The client
 * is `client_id`, else `azp`, and the person `sub` behind it; scopes are those of `scope` that Gantry knows, with or without `gantry:` before them.
 * Throws when the keys cannot be had.
 */
export const jwtTokens = (settings: OAuthResourceSettings, log: Log): Authenticate => {
  let keys: Promise<Awaited<ReturnType<typeof loadKeys>>> | undefined;
  const loadKeys = async () => {
    const { createRemoteJWKSet } = await import('jose');
    return createRemoteJWKSet(new URL(settings.jwksUri ?? (await jwksUriOf(settings.issuer))));
  };
  return async (token) => {
    // Other tokens have no two dots.
    if (token.split('.').length !== 3) return undefined;
    const { jwtVerify } = await import('jose');
    try {
      keys ??= loadKeys();
      const keySet = await keys.catch((error: unknown) => {
        keys = undefined;
        throw error;
      });
      const { issuer, audience } = settings;
      const { payload } = await jwtVerify(token, keySet, { issuer, audience, algorithms, requiredClaims: ['exp'] });
      return { client: clientOf(payload), scopes: scopesOf(payload) };
    } catch (error) {
      // That the keys cannot be had says nothing about the token.
      if (!saysNo(error)) throw error;
      log.debug({ reason: messageOf(error) }, 'a JWT was refused');
      return undefined;
    }
  };
};

/** Whether an error is a verdict on the token, and not a failure to get at the keys. */
const saysNo = (error: unknown): boolean => {
  const code = isObject(error) && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^ERR_J(?:WT|WS|OSE_ALG|OSE_NOT|WKS_NO|WKS_MULTIPLE)/.test(code);
};

/** RFC 8414 and OpenID Connect Discovery. */
const jwksUriOf = async (issuer: string): Promise<string> => {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  const places = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ];
  for (const place of places) {
    const response = await fetch(place, { signal: AbortSignal.timeout(10_000), redirect: 'error' });
    const metadata: unknown = response.ok ? await response.json() : undefined;
    // Metadata of another issuer would let that one speak for this.
    if (isObject(metadata) && metadata['issuer'] === issuer && typeof metadata['jwks_uri'] === 'string')
      return metadata['jwks_uri'];
  }
  throw new Error(`No metadata of issuer ${issuer} was found; set serve.oauth.jwksUri.`);
};

const clientOf = ({ sub, ...claims }: JWTPayload): string => {
  const app = [claims['client_id'], claims['azp']].find(isNamed) ?? '';
  // Several people may use one application, and nothing of one is another's. RFC 9068 section 2.2: an application on its own is its subject.
  return isNamed(sub) && sub !== app ? `oauth:${encoded(app)}#${encoded(sub)}` : `oauth:${encoded(app)}`;
};

/** Without the sign that parts the two, so that no other pair makes the same name. */
const encoded = (part: string): string => part.replaceAll(/[%#]/g, encodeURIComponent);

const isNamed = (name: unknown): name is string => typeof name === 'string' && name !== '';

const scopesOf = ({ scope }: JWTPayload): ReadonlySet<AccessScope> => {
  const named = new Set(typeof scope === 'string' ? scope.split(' ').map((one) => one.replace(/^gantry:/, '')) : []);
  return new Set(accessScopes.filter((known) => named.has(known)));
};
