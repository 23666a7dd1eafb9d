import type {
  AuthorizationServerMetadata,
  OAuthClientInformationMixed,
  OAuthTokens,
} from '@modelcontextprotocol/client';
import type { Clock } from '../../../kernel/clock.ts';
import type { Leases } from '../../../store/leases.ts';
import { waitForLease } from '../../../store/wait-for-lease.ts';
import type { Secrets } from '../../../store/secrets.ts';

/** What a sign-in gave, and what is needed to renew it. */
export interface Credentials {
  /** Of the server they were given for; under another address they are not sent. */
  readonly url: string;
  readonly authorizationServerUrl: string;
  readonly metadata?: AuthorizationServerMetadata | undefined;
  readonly client: OAuthClientInformationMixed;
  /** RFC 8707. */
  readonly resource?: string | undefined;
  /** Absent once they cannot be renewed any more. */
  readonly tokens?: OAuthTokens | undefined;
  /** What was asked for, as one text (RFC 6749 section 3.3). */
  readonly scope?: string | undefined;
  /** What the server has wanted since, which the next sign-in asks for too. */
  readonly wantedScope?: string | undefined;
  readonly expiresAtMs?: number | undefined;
}

/** Credentials by server id, encrypted. */
export interface CredentialStore {
  /** Those that were given for this address. */
  get(serverId: string, url: string): Promise<Credentials | undefined>;
  put(serverId: string, credentials: Credentials): Promise<void>;
  delete(serverId: string): Promise<void>;
  /**
   * Runs work on the credentials of a server while no other process does: a refresh token is often good for one use, and a second use may end
   * the sign-in.
   */
  alone<T>(serverId: string, work: () => Promise<T>): Promise<T>;
}

/** Keeps credentials among the store's secrets. */
export const createCredentialStore = (options: {
  readonly secrets: Pick<Secrets, 'get' | 'put' | 'delete'>;
  readonly leases: Leases;
  readonly clock: Clock;
}): CredentialStore => {
  const { secrets, leases, clock } = options;
  return {
    get: async (serverId, url) => {
      const text = await secrets.get(nameOf(serverId));
      if (text === undefined) return undefined;
      const credentials = JSON.parse(text) as Credentials;
      return credentials.url === url ? credentials : undefined;
    },
    put: (serverId, credentials) => secrets.put(nameOf(serverId), JSON.stringify(credentials)),
    delete: async (serverId) => {
      await secrets.delete(nameOf(serverId));
    },
    alone: async (serverId, work) => {
      const lease = await waitForLease(leases, nameOf(serverId), { ttlMs: aloneMs, lookEveryMs, clock });
      try {
        return await work();
      } finally {
        await leases.release(lease);
      }
    },
  };
};

// Longer than an authorization server takes to answer.
const aloneMs = 60_000;
const lookEveryMs = 100;

const nameOf = (serverId: string): string => `mcp-oauth/${serverId}`;

/** When tokens expire, by the clock; undefined when they do not say. */
export const expiryOf = (tokens: OAuthTokens, nowMs: number): number | undefined =>
  tokens.expires_in === undefined ? undefined : nowMs + tokens.expires_in * 1000;
