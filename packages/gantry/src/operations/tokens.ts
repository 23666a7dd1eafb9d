import * as z from 'zod';
import { GantryError } from '../kernel/errors.ts';
import type { AccessScope, StoredToken } from './access/token-shelf.ts';
import { accessScopes } from './access/token-shelf.ts';
import type { NoInput, Operation } from './operation.ts';
import { defineOperation } from './operation.ts';
import type { OperationDeps } from './operation-deps.ts';

/** An access token as it is shown. */
export interface TokenInfo {
  readonly name: string;
  readonly scopes: readonly AccessScope[];
  /** ISO time. */
  readonly createdAt: string;
}

/** What `tokens.create` takes. */
export interface TokensCreateInput {
  readonly name: string;
  readonly scopes?: readonly AccessScope[] | undefined;
}

const scope: z.ZodType<AccessScope> = z.enum(accessScopes);
const members = { name: z.string(), scopes: z.array(scope), createdAt: z.string() };
const shape = z.strictObject(members);
const name = z.string().min(1).describe('Name of the token; clients are known by it.');

const defaultScopes: readonly AccessScope[] = ['mcp'];

/** `tokens.create` */
export const tokensCreate: Operation<TokensCreateInput, TokenInfo & { readonly token: string }> = defineOperation({
  name: 'tokens.create',
  summary: 'Makes an access token of the gateway. It is shown this once.',
  method: 'POST',
  path: '/tokens',
  input: z.strictObject({
    name,
    scopes: z
      .array(scope)
      .min(1)
      .optional()
      .describe('mcp: /mcp (default); read: the API, without changes; admin: everything.'),
  }),
  output: z.strictObject({ ...members, token: z.string() }),
  handler: async ({ name: wanted, scopes = defaultScopes }, deps) => {
    const { token, stored } = await tokensOf(deps).create(wanted, scopes);
    return { ...toInfo(stored), token };
  },
});

/** `tokens.list` */
export const tokensList: Operation<NoInput, { readonly tokens: readonly TokenInfo[] }> = defineOperation({
  name: 'tokens.list',
  summary: 'Lists the access tokens of the gateway, without the tokens themselves.',
  method: 'GET',
  path: '/tokens',
  input: z.strictObject({}),
  output: z.strictObject({ tokens: z.array(shape) }),
  handler: async (_input, deps) => ({ tokens: (await tokensOf(deps).list()).map(toInfo) }),
});

/** `tokens.revoke` */
export const tokensRevoke: Operation<{ readonly name: string }, { readonly revoked: string }> = defineOperation({
  name: 'tokens.revoke',
  summary: 'Revokes an access token: it is refused from now on.',
  method: 'POST',
  path: '/tokens/{name}/revoke',
  input: z.strictObject({ name }),
  output: z.strictObject({ revoked: z.string() }),
  handler: async ({ name: wanted }, deps) => {
    const tokens = tokensOf(deps);
    if (await tokens.revoke(wanted)) return { revoked: wanted };
    const known = (await tokens.list()).map((token) => token.name);
    throw new GantryError(
      'token_unknown',
      `There is no token "${wanted.slice(0, 100)}"${known.length > 0 ? `; known: ${known.join(', ')}` : ''}.`,
      { details: { name: wanted } },
    );
  },
});

const tokensOf = ({ tokens }: OperationDeps): NonNullable<OperationDeps['tokens']> => {
  if (tokens) return tokens;
  throw new GantryError('usage', 'No gateway is set up here, so there are no access tokens.');
};

const toInfo = ({ name: known, scopes, createdAtMs }: StoredToken): TokenInfo => ({
  name: known,
  scopes,
  createdAt: new Date(createdAtMs).toISOString(),
});
