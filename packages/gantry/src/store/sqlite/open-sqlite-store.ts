import { closeSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Kysely } from 'kysely';
import type { Clock } from '../../kernel/clock.ts';
import { GantryError, messageOf } from '../../kernel/errors.ts';
import { isObject } from '../../kernel/json.ts';
import { makeFolder } from '../../kernel/make-folder.ts';
import type { Log } from '../../kernel/log.ts';
import type { Keyring } from '../keyring.ts';
import { migrate } from '../sql/migrate.ts';
import { sqlStore } from '../sql/sql-store.ts';
import type { Sql } from '../sql/sql.ts';
import type { Tables } from '../sql/tables.ts';
import type { Store } from '../store.ts';
import { groupCommit } from './group-commit.ts';
import { sqliteDialect } from './sqlite-dialect.ts';
import { whenUnlocked } from './when-unlocked.ts';

/**
 * Opens the store in an SQLite file, making file and folder when they are missing (the file readable by its owner only), or in
 * memory for `:memory:`. Several processes may have the same file open; it must lie on a local disk.
 *
 * @throws {GantryError} `store_too_new`; `store_unavailable` when the file cannot be opened, is not a store, or stays locked.
 */
export const openSqliteStore = async (options: {
  readonly path: string;
  readonly clock: Clock;
  readonly keyring: Keyring;
  readonly log: Log;
}): Promise<Store> => {
  const { path, clock, keyring, log } = options;
  const guard = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      throw toStoreError(path, error);
    });
  const database = await guard(openDatabase(path));
  const queries = new Kysely<Tables>({ dialect: sqliteDialect(database) });
  const commits = groupCommit(queries);
  let closing: Promise<void> | undefined;
  const refuseClosed = (): void => {
    if (closing) throw new GantryError('stopped', 'The store is closed.');
  };
  const sql: Sql = {
    read: async (work) => {
      refuseClosed();
      return guard(work(queries));
    },
    // SQLite has one writer at a time, whatever it claims.
    write: async (_claims, work) => {
      refuseClosed();
      return guard(commits.write(work));
    },
  };
  const close = (): Promise<void> => (closing ??= commits.settled().then(() => queries.destroy()));
  try {
    await migrate(sql, clock);
  } catch (error) {
    await close();
    throw error;
  }
  return sqlStore(sql, { clock, keyring, log, close });
};

const openDatabase = async (path: string): Promise<DatabaseSync> => {
  if (path !== ':memory:') {
    await makeFolder(dirname(path));
    // SQLite gives its -wal and -shm files the mode of this one.
    closeSync(openSync(path, 'a', 0o600));
  }
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    // FULL waits for the disk at every commit: without it a power cut loses what was acknowledged. Group commit pays for it.
    await whenUnlocked(() => database.exec('pragma journal_mode = wal; pragma synchronous = full'));
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
};

/** Errors of SQLite and of the file system; everything else is what the caller's own work threw. */
const toStoreError = (path: string, error: unknown): unknown => {
  if (GantryError.is(error) || !isObject(error)) return error;
  const { errcode, code } = error as { errcode?: unknown; code?: unknown };
  if (errcode === undefined && typeof code !== 'string') return error;
  return new GantryError(
    'store_unavailable',
    `The store ${path} cannot be used: ${messageOf(error)}. Check that the path is right, the disk has room and no other program holds the file.`,
    { details: { path, errcode }, cause: error },
  );
};
