import { createHash, randomBytes } from 'node:crypto';
import type { Clock } from '../../kernel/clock.ts';
import { GantryError } from '../../kernel/errors.ts';
import type { Documents } from '../../store/documents.ts';

/** What a token lets its holder do: speak MCP, read the API, and everything. */
export const accessScopes = ['mcp', 'read', 'admin'] as const;
/** One of {@link accessScopes}. */
export type AccessScope = (typeof accessScopes)[number];

/** An access token as it is stored; the token itself is not. */
export interface StoredToken {
  readonly name: string;
  /** SHA-256, hex. The token is 256 random bits, so a slow hash would add nothing. */
  readonly hash: string;
  readonly scopes: readonly AccessScope[];
  readonly createdAtMs: number;
}

/** The access tokens of a gateway, shared by all processes on a store. */
export interface TokenShelf {
  /**
   * Makes a token and gives it, once.
   * @throws {GantryError} `record_exists`, `invalid_arguments`
   */
  create(
    name: string,
    scopes: readonly AccessScope[],
  ): Promise<{ readonly token: string; readonly stored: StoredToken }>;
  /** By name. */
  list(): Promise<readonly StoredToken[]>;
  /** True when there was one. It is refused at once by this process, and within seconds by others. */
  revoke(name: string): Promise<boolean>;
  /** Whose token it is, also when another process has just made it; undefined for one that is not known. */
  find(token: string): Promise<StoredToken | undefined>;
}

const prefix = 'gty_';
const freshForMs = 5_000;
/** The client that `GANTRY_TOKEN` stands for; no other token has its name. */
export const ownTokenName = 'token';
const namePattern = /^[A-Za-z0-9][\w.-]{0,63}$/;

/** Makes the shelf over a collection of the store. */
export const createTokenShelf = (documents: Documents<StoredToken>, clock: Clock): TokenShelf => {
  // A request must not cost a read of the store.
  let known: { readonly byHash: ReadonlyMap<string, StoredToken>; readonly atMs: number } | undefined;
  let loading: Promise<ReadonlyMap<string, StoredToken>> | undefined;

  const load = async (): Promise<ReadonlyMap<string, StoredToken>> => {
    const atMs = clock.elapsedMs();
    const all = await documents.list();
    known = { byHash: new Map(all.map(({ value }) => [value.hash, value])), atMs };
    return known.byHash;
  };
  /** What is stored, as those who ask at the same time read it together: a flood of wrong tokens is one read after the other. */
  const read = (): Promise<ReadonlyMap<string, StoredToken>> =>
    (loading ??= load().finally(() => (loading = undefined)));

  return {
    create: async (name, scopes) => {
      if (!namePattern.test(name))
        throw new GantryError(
          'invalid_arguments',
          'A token is named with letters, digits, "_", "-" and ".", at most 64, beginning with a letter or a digit.',
        );
      if (name.toLowerCase() === ownTokenName)
        throw new GantryError(
          'invalid_arguments',
          `"${ownTokenName}" is the name of the client that has GANTRY_TOKEN; take another name.`,
        );
      const token = prefix + randomBytes(32).toString('base64url');
      const stored = { name, hash: hashOf(token), scopes, createdAtMs: clock.nowMs() };
      try {
        await documents.put(name.toLowerCase(), stored, { ifRevision: 0 });
      } catch (error) {
        if (!GantryError.is(error) || error.code !== 'revision_conflict') throw error;
        throw new GantryError('record_exists', `There is a token "${name}" already; revoke it, or take another name.`, {
          details: { id: name },
        });
      }
      known = undefined;
      return { token, stored };
    },
    list: async () => (await documents.list()).map(({ value }) => value),
    revoke: async (name) => {
      const was = await documents.delete(name.toLowerCase());
      known = undefined;
      return was;
    },
    find: async (token) => {
      if (!token.startsWith(prefix)) return undefined;
      const hash = hashOf(token);
      const isFresh = known !== undefined && clock.elapsedMs() - known.atMs < freshForMs;
      // One that is not known may have been made by another process just now.
      return (isFresh ? known?.byHash.get(hash) : undefined) ?? (await read()).get(hash);
    },
  };
};

const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex');
