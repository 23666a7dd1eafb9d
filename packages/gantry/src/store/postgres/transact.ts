import { hash } from 'node:crypto';
import { sql as raw } from 'kysely';
import { GantryError } from '../../kernel/errors.ts';
import type { Claim, Queries } from '../sql/sql.ts';

/**
 * Runs a write as a transaction of its own, after it has got what it claims. Claims are advisory locks of the transaction: the server frees
 * them with it, also when this process dies.
 *
 * Why not `serializable`: in tables as small as these, transactions that touch different rows meet on one page of an index, and most fail and
 * have to be repeated (measured in `docs/decisions/0007-claims-in-postgresql.md`). With its claims a write waits only for those it has
 * something in common with, and is never repeated.
 *
 * @param inDoubt what is thrown when nobody knows whether the commit took place.
 */
export const transact = <T>(
  queries: Queries,
  claims: readonly Claim[],
  work: (queries: Queries) => Promise<T>,
  inDoubt: () => GantryError,
): Promise<T> =>
  queries.connection().execute(async (connection) => {
    const result = await attempt(connection, claims, work);
    try {
      await raw`commit`.execute(connection);
    } catch (error) {
      throw GantryError.is(error) && wasAnswered(error) ? error : inDoubt();
    }
    return result;
  });

const attempt = async <T>(
  connection: Queries,
  claims: readonly Claim[],
  work: (queries: Queries) => Promise<T>,
): Promise<T> => {
  try {
    // One message, and so one way to the server and back. Each statement after it sees what was committed before the claims were got.
    await raw
      .raw(['begin isolation level read committed read write', ...claims.map(toLock)].join(';'))
      .execute(connection);
    return await work(connection);
  } catch (error) {
    // A connection that was lost has been rolled back by the server; one that says so now is let go of.
    await raw`rollback`.execute(connection).catch(() => {});
    throw error;
  }
};

const toLock = ({ on, isShared = false }: Claim): string =>
  `select pg_advisory_xact_lock${isShared ? '_shared' : ''}(${lockKey(on)})`;

/** What is hashed to the same number by chance waits without need, and that is all. */
const lockKey = (name: string): bigint => hash('sha256', `gantry\n${name}`, 'buffer').readBigInt64BE();

// Classes 08 and 57 say that the connection ended, perhaps in the middle of the commit.
const wasAnswered = ({ details }: GantryError): boolean =>
  typeof details['errcode'] === 'string' && !/^(?:08|57)/.test(details['errcode']);
