import { createHash, timingSafeEqual } from 'node:crypto';
import type { AccessScope } from '../operations/access/token-shelf.ts';
import { accessScopes } from '../operations/access/token-shelf.ts';

/** Whose token a request carries, and what it may be used for. */
export interface Identity {
  /** Name of the client. */
  readonly client: string;
  readonly scopes: ReadonlySet<AccessScope>;
}

/** Gives the identity that a bearer token stands for, or undefined for a token that is not known. */
export type Authenticate = (token: string) => Identity | undefined | Promise<Identity | undefined>;

/** Knows one token, which may do everything. It is compared by hash, so the time taken says nothing about it. */
export const oneToken = (token: string, client: string): Authenticate => {
  const expected = hashOf(token);
  const identity: Identity = { client, scopes: new Set(accessScopes) };
  return (given) => (timingSafeEqual(hashOf(given), expected) ? identity : undefined);
};

/** Asks one after another; the first that knows the token decides. */
export const firstOf =
  (...ways: readonly Authenticate[]): Authenticate =>
  async (token) => {
    for (const way of ways) {
      const identity = await way(token);
      if (identity) return identity;
    }
    return undefined;
  };

/** What a request needs: speaking MCP, reading, or everything. Whoever calls a tool over the API does so as the operator, whom no rule binds. */
export const scopeFor = (method: string, path: string): AccessScope => {
  if (path === '/mcp' || path.startsWith('/mcp/')) return 'mcp';
  return method === 'GET' || method === 'HEAD' ? 'read' : 'admin';
};

/** Whether the scopes allow that. */
export const mayDo = ({ scopes }: Identity, needed: AccessScope): boolean => scopes.has(needed) || scopes.has('admin');

/** The token of an `Authorization: Bearer` header (RFC 6750), or undefined. */
export const bearerToken = (header: string | undefined): string | undefined =>
  /^Bearer +([^\s]+) *$/i.exec(header ?? '')?.[1];

const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest();
