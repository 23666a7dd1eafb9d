import type { CompiledQuery, DatabaseConnection, Dialect, Driver, QueryResult } from 'kysely';
import { PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely';
import type { Pool, PoolClient } from 'pg';
import { bindable } from '../sql/bindable.ts';
import { isConnectionLost } from './postgres-fault.ts';

/**
 * Lets kysely work on a pool of connections; closing the kysely instance closes the pool. Unlike kysely's own dialect it lets go of a
 * connection that does not answer, and tells errors of the database from all others by passing them through `toError`.
 */
export const postgresDialect = (pool: Pool, toError: (error: unknown) => Error): Dialect => ({
  createDriver: () => new PostgresDriver(pool, toError),
  createQueryCompiler: () => new PostgresQueryCompiler(),
  createAdapter: () => new PostgresAdapter(),
  createIntrospector: (db) => new PostgresIntrospector(db),
});

class PostgresDriver implements Driver {
  readonly #pool: Pool;
  readonly #toError: (error: unknown) => Error;

  constructor(pool: Pool, toError: (error: unknown) => Error) {
    this.#pool = pool;
    this.#toError = toError;
  }
  async init(): Promise<void> {}
  async acquireConnection(): Promise<PostgresConnection> {
    try {
      return new PostgresConnection(await this.#pool.connect(), this.#toError);
    } catch (error) {
      throw this.#toError(error);
    }
  }
  async beginTransaction(connection: PostgresConnection): Promise<void> {
    await connection.query('begin');
  }
  async commitTransaction(connection: PostgresConnection): Promise<void> {
    await connection.query('commit');
  }
  async rollbackTransaction(connection: PostgresConnection): Promise<void> {
    await connection.query('rollback');
  }
  async releaseConnection(connection: PostgresConnection): Promise<void> {
    connection.release();
  }
  destroy(): Promise<void> {
    return this.#pool.end();
  }
}

class PostgresConnection implements DatabaseConnection {
  readonly #client: PoolClient;
  readonly #toError: (error: unknown) => Error;
  #isLost = false;

  constructor(client: PoolClient, toError: (error: unknown) => Error) {
    this.#client = client;
    this.#toError = toError;
    // What a connection in use says of its end, its query says too.
    client.on('error', ignore);
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    return this.query<R>(query.sql, bindable(query));
  }

  async *streamQuery<R>(query: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
    yield await this.executeQuery<R>(query);
  }

  async query<R>(sql: string, parameters: readonly unknown[] = []): Promise<QueryResult<R>> {
    try {
      const { rows, rowCount } = await this.#client.query(sql, [...parameters]);
      return { rows: (rows ?? []) as R[], ...(rowCount === null ? {} : { numAffectedRows: BigInt(rowCount ?? 0) }) };
    } catch (error) {
      this.#isLost ||= isConnectionLost(error);
      throw this.#toError(error);
    }
  }

  release(): void {
    this.#client.off('error', ignore);
    this.#client.release(this.#isLost);
  }
}

const ignore = (): void => {};
