import { createHash, timingSafeEqual } from 'node:crypto';

/** Gives the identity that a bearer token stands for, or undefined for a token that is not known. */
export type Authenticate = (token: string) => string | undefined | Promise<string | undefined>;

/** Knows one token. It is compared by hash, so the time taken says nothing about it. */
export const oneToken = (token: string, client: string): Authenticate => {
  const expected = hashOf(token);
  return (given) => (timingSafeEqual(hashOf(given), expected) ? client : undefined);
};

/** The token of an `Authorization: Bearer` header (RFC 6750), or undefined. */
export const bearerToken = (header: string | undefined): string | undefined =>
  /^Bearer +([^\s]+) *$/i.exec(header ?? '')?.[1];

const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest();
