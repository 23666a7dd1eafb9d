import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { CompiledQuery, DatabaseConnection, Dialect, Driver, QueryResult } from 'kysely';
import { SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely';
import { bindable } from '../sql/bindable.ts';
import { whenUnlocked } from './when-unlocked.ts';

/** Lets kysely work on one `node:sqlite` connection. Closing the kysely instance closes the connection. */
export const sqliteDialect = (database: DatabaseSync): Dialect => ({
  createDriver: () => new SqliteDriver(database),
  createQueryCompiler: () => new SqliteQueryCompiler(),
  // It also tells kysely that there is one connection only, so that reads wait for the transaction that runs.
  createAdapter: () => new SqliteAdapter(),
  createIntrospector: (db) => new SqliteIntrospector(db),
});

class SqliteDriver implements Driver {
  readonly #connection: SqliteConnection;

  constructor(database: DatabaseSync) {
    this.#connection = new SqliteConnection(database);
  }
  async init(): Promise<void> {}
  async acquireConnection(): Promise<DatabaseConnection> {
    return this.#connection;
  }
  // A transaction that begins as a reader cannot become a writer once another process wrote, hence "immediate".
  beginTransaction(): Promise<void> {
    return this.#connection.run('begin immediate');
  }
  commitTransaction(): Promise<void> {
    return this.#connection.run('commit');
  }
  rollbackTransaction(): Promise<void> {
    return this.#connection.run('rollback');
  }
  async releaseConnection(): Promise<void> {}
  async destroy(): Promise<void> {
    this.#connection.close();
  }
}

class SqliteConnection implements DatabaseConnection {
  readonly #database: DatabaseSync;
  // The shapes know a fixed set of queries, so this does not grow.
  readonly #prepared = new Map<string, { statement: StatementSync; returnsRows: boolean }>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const values = bindable(query) as readonly SQLInputValue[];
    return whenUnlocked(() => {
      const { statement, returnsRows } = this.#prepare(query.sql);
      if (returnsRows) return { rows: statement.all(...values) as R[] };
      return { rows: [], numAffectedRows: BigInt(statement.run(...values).changes) };
    });
  }

  async *streamQuery<R>(query: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
    yield await this.executeQuery<R>(query);
  }

  run(sql: string): Promise<void> {
    return whenUnlocked(() => this.#database.exec(sql));
  }

  close(): void {
    this.#prepared.clear();
    this.#database.close();
  }

  #prepare(sql: string): { statement: StatementSync; returnsRows: boolean } {
    const known = this.#prepared.get(sql);
    if (known) return known;
    const statement = this.#database.prepare(sql);
    const prepared = { statement, returnsRows: statement.columns().length > 0 };
    this.#prepared.set(sql, prepared);
    return prepared;
  }
}
