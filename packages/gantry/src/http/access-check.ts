import type { Clock } from '../kernel/clock.ts';
import { messageOf } from '../kernel/errors.ts';
import type { Log } from '../kernel/log.ts';
import type { Authenticate, Identity } from './authenticate.ts';
import { bearerToken, mayDo, scopeFor } from './authenticate.ts';
import type { OAuthResourceSettings } from './oauth-resource.ts';
import { resourceMetadataPath } from './oauth-resource.ts';
import { refusal } from './refusal.ts';
import { createStandingStreams } from './standing-streams.ts';
import type { AddressPolicy } from './trusted-address.ts';
import { createAddressCheck } from './trusted-address.ts';

/** What decides who is let in. */
export interface AccessCheckOptions extends AddressPolicy {
  /** Asks for a bearer token; absent, none is asked for. */
  readonly authenticate?: Authenticate | undefined;
  /** The authorization server whose tokens are taken; clients are told of it. */
  readonly oauth?: Pick<OAuthResourceSettings, 'issuer'> | undefined;
  readonly log: Log;
  readonly clock: Clock;
}

/** Somebody who was let in. */
export interface Entry {
  /** Identity that the token stands for; undefined where no token is asked for. */
  readonly client: string | undefined;
  /** The response, whose stream of events ends when the token is good no longer. */
  hold(response: Response): Response;
}

/** Judges requests before anything is done with them. */
export interface AccessCheck {
  /** Judges `Host` and `Origin`. */
  refuseAddress(request: Request): Response | undefined;
  /** Judges the token, where one is asked for, for the path of the request. */
  admit(request: Request, path: string): Promise<Entry | { readonly refusal: Response }>;
  /** Where the client reaches the gateway. */
  originOf(request: Request): string;
}

const anybody: Entry = { client: undefined, hold: (response) => response };

/** Makes it. */
export const createAccessCheck = (options: AccessCheckOptions): AccessCheck => {
  const { authenticate, oauth, log, clock } = options;
  const addresses = createAddressCheck(options);
  const standing = createStandingStreams(clock);
  // What a proxy says of the way to it is not believed: anyone could say it.
  const publicOrigin = options.publicUrl === undefined ? undefined : new URL(options.publicUrl).origin;
  const originOf = ({ url }: Request): string => publicOrigin ?? new URL(url).origin;

  /** RFC 6750 section 3, and RFC 9728 section 5.1. */
  const challenge = (request: Request, error: string | undefined, scope: string): Record<string, string> => {
    const { pathname } = new URL(request.url);
    const parts = [
      ...(error === undefined ? [] : [`error="${error}"`]),
      ...(oauth
        ? [`resource_metadata="${originOf(request)}${resourceMetadataPath}${pathname}"`, `scope="${scope}"`]
        : []),
    ];
    return { 'www-authenticate': parts.length === 0 ? 'Bearer' : `Bearer ${parts.join(', ')}` };
  };

  return {
    originOf,
    refuseAddress: ({ headers }) => {
      const why = addresses.refusal(headers.get('host') ?? undefined, headers.get('origin') ?? undefined);
      return why === undefined ? undefined : refusal(403, 'address_refused', why);
    },
    admit: async (request, path) => {
      if (!authenticate) return anybody;
      const token = bearerToken(request.headers.get('authorization') ?? undefined);
      let identity: Identity | undefined;
      try {
        identity = token === undefined ? undefined : await authenticate(token);
      } catch (error) {
        log.warn({ reason: messageOf(error) }, 'a token could not be checked');
        const message = 'Tokens cannot be checked now; try again in a while.';
        return { refusal: refusal(503, 'auth_unavailable', message, { isRetryable: true }) };
      }
      const needed = scopeFor(request.method, path);
      if (token === undefined || identity === undefined) {
        const headers = challenge(request, token === undefined ? undefined : 'invalid_token', needed);
        const message = 'Send a token of this gateway: "Authorization: Bearer …".';
        return { refusal: refusal(401, 'auth_required', message, { headers }) };
      }
      if (!mayDo(identity, needed)) {
        const headers = challenge(request, 'insufficient_scope', needed);
        const message = `This needs a token with the scope ${needed === 'admin' ? '' : `"${needed}" or `}"admin".`;
        return { refusal: refusal(403, 'scope_missing', message, { headers }) };
      }
      const isGood = async (): Promise<boolean> => {
        const now = await authenticate(token);
        return now !== undefined && mayDo(now, needed);
      };
      return {
        client: identity.client,
        hold: (response) => standing.hold(response, `${needed} ${token}`, isGood),
      };
    },
  };
};
