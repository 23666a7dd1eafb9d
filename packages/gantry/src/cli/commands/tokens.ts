import { GantryError } from '../../kernel/errors.ts';
import type { AccessScope } from '../../operations/access/token-shelf.ts';
import { accessScopes } from '../../operations/access/token-shelf.ts';
import { tokensCreate, tokensList, tokensRevoke } from '../../operations/tokens.ts';
import type { Command } from '../command-context.ts';
import { openGateway } from '../gateway.ts';
import { toCell } from '../output/printable.ts';
import { createPrinter } from '../output/printer.ts';

const withoutServers = { needs: 'none' } as const;

/** `gantry tokens create NAME [--scope S]…` */
export const createToken: Command<[string, { scope?: readonly string[] }]> = async (context, name, { scope }) => {
  const printer = createPrinter(context);
  const scopes = scope?.map(toScope);
  await using gateway = await openGateway(context, withoutServers);
  const created = await gateway.run(tokensCreate, { name, scopes });
  printer.note(`Token "${toCell(created.name)}" (${created.scopes.join(', ')}). It is shown this once; keep it safe:`);
  printer.result(created, () => created.token);
  return 0;
};

/** `gantry tokens list` */
export const listTokens: Command<[]> = async (context) => {
  const printer = createPrinter(context);
  await using gateway = await openGateway(context, withoutServers);
  const found = await gateway.run(tokensList, {});
  printer.result(found, () =>
    found.tokens.length === 0
      ? 'There are no tokens.'
      : printer.table(
          ['NAME', 'SCOPES', 'CREATED'],
          found.tokens.map((token) => [token.name, token.scopes.join(', '), token.createdAt]),
        ),
  );
  return 0;
};

/** `gantry tokens revoke NAME` */
export const revokeToken: Command<[string]> = async (context, name) => {
  await using gateway = await openGateway(context, withoutServers);
  const revoked = await gateway.run(tokensRevoke, { name });
  createPrinter(context).result(revoked, () => `Token "${toCell(revoked.revoked)}" is revoked.`);
  return 0;
};

const toScope = (text: string): AccessScope => {
  const scope = accessScopes.find((known) => known === text);
  if (scope) return scope;
  throw new GantryError('usage', `There is no scope "${text.slice(0, 100)}"; known: ${accessScopes.join(', ')}.`, {
    details: { flag: '--scope', known: [...accessScopes] },
  });
};
