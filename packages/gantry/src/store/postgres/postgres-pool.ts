import type { Pool } from 'pg';
import { messageOf } from '../../kernel/errors.ts';
import type { Log } from '../../kernel/log.ts';
import { loadPg } from './load-pg.ts';

/** How connections are made. */
export interface PostgresPoolOptions {
  readonly url: string;
  /** Host, port and name of the database, for the log. */
  readonly address: string;
  readonly maxConnections: number;
  readonly log: Log;
}

// Nothing waits without end for a server that is slow or silent.
const connectTimeoutMs = 10_000;
const statementTimeoutMs = 30_000;
const lockTimeoutMs = 15_000;
// What the server's own limits do not reach: a network that swallows everything.
const answerTimeoutMs = statementTimeoutMs + 5000;
// A machine that vanished keeps what it claimed no longer than this.
const idleTransactionTimeoutMs = 15_000;
const idleTimeoutMs = 60_000;

/**
 * Connections to a PostgreSQL server, made when they are needed. One that breaks while nobody uses it is forgotten, and the next who asks gets
 * a new one.
 * @throws {GantryError} `package_missing`
 */
export const createPostgresPool = async (options: PostgresPoolOptions): Promise<Pool> => {
  const { url, address, maxConnections, log } = options;
  const pg = await loadPg();
  const pool = new pg.Pool({
    connectionString: url,
    max: maxConnections,
    connectionTimeoutMillis: connectTimeoutMs,
    idleTimeoutMillis: idleTimeoutMs,
    statement_timeout: statementTimeoutMs,
    lock_timeout: lockTimeoutMs,
    query_timeout: answerTimeoutMs,
    idle_in_transaction_session_timeout: idleTransactionTimeoutMs,
    keepAlive: true,
    application_name: 'gantry',
    // The driver gives 64-bit numbers as text. Ours are times, counts and revisions, all far below 2^53.
    types: {
      getTypeParser: (id, format) => (id === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(id, format)),
    },
  });
  // Without a listener, a server that stops would end the process.
  pool.on('error', (error) =>
    log.warn({ address, reason: messageOf(error) }, 'a connection to the store was lost; the next use makes a new one'),
  );
  return pool;
};
