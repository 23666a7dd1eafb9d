import { Kysely } from 'kysely';
import type { Clock } from '../../kernel/clock.ts';
import { GantryError } from '../../kernel/errors.ts';
import type { Log } from '../../kernel/log.ts';
import type { Keyring } from '../keyring.ts';
import { migrate } from '../sql/migrate.ts';
import { migrationsFor } from '../sql/migrations.ts';
import { sqlStore } from '../sql/sql-store.ts';
import type { Sql } from '../sql/sql.ts';
import type { Tables } from '../sql/tables.ts';
import type { Store } from '../store.ts';
import { shownDatabase } from './database-url.ts';
import { inDoubt, unavailable } from './postgres-fault.ts';
import { createPostgresPool } from './postgres-pool.ts';
import { postgresDialect } from './postgres-dialect.ts';
import { transact } from './transact.ts';

/** How a store in PostgreSQL is opened. */
export interface PostgresStoreOptions {
  /** `postgres://user:password@host:5432/database`, with the options that libpq and `pg` know (`sslmode`, `options`). */
  readonly url: string;
  /** Most connections of this process. Default 10. */
  readonly maxConnections?: number | undefined;
  readonly clock: Clock;
  readonly keyring: Keyring;
  readonly log: Log;
}

/**
 * Opens the store in a PostgreSQL database, making its tables in the first schema of the search path when they are missing. Any number of
 * processes on any number of machines may have the same database open. Times are those of the processes, so their clocks must agree to
 * within a small part of the shortest lease.
 *
 * A write whose commit was not acknowledged fails with `store_unavailable`, `details.isInDoubt` and the hint `never`.
 *
 * @throws {GantryError} `store_too_new`; `store_unavailable` when the server cannot be reached or refuses; `package_missing`; `config_invalid`
 * when the URL is none.
 */
export const openPostgresStore = async (options: PostgresStoreOptions): Promise<Store> => {
  const { url, maxConnections = 10, clock, keyring, log } = options;
  const address = shownDatabase(url);
  const pool = await createPostgresPool({ url, address, maxConnections, log });
  const dialect = postgresDialect(pool, (error) => unavailable(address, error));
  const queries = new Kysely<Tables>({ dialect });
  const running = new Set<Promise<unknown>>();
  let closing: Promise<void> | undefined;
  const track = async <T>(start: () => Promise<T>): Promise<T> => {
    if (closing) throw new GantryError('stopped', 'The store is closed.');
    const work = start();
    running.add(work);
    try {
      return await work;
    } finally {
      running.delete(work);
    }
  };
  const sql: Sql = {
    read: (work) => track(() => work(queries)),
    write: (claims, work) => track(() => transact(queries, claims, work, () => inDoubt(address))),
  };
  const close = (): Promise<void> => (closing ??= Promise.allSettled(running).then(() => queries.destroy()));
  try {
    await migrate(sql, clock, migrationsFor(byteWiseText));
  } catch (error) {
    await close();
    throw error;
  }
  return sqlStore(sql, { clock, keyring, log, close });
};

// Keys are paths that are listed and compared byte by byte, whatever the language of the database.
const byteWiseText = 'text collate "C"';
