import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import type { Keyring } from '../keyring.ts';
import type { Shapes, Store } from '../store.ts';
import type { Sql } from './sql.ts';
import { sqlDocuments } from './sql-documents.ts';
import { sqlKeyValue } from './sql-key-value.ts';
import { sqlLeases, withLease } from './sql-leases.ts';
import { sqlLedger } from './sql-ledger.ts';
import { sqlSecrets } from './sql-secrets.ts';

/** A store over a database that has been brought forward; `close` is called when the store is disposed. */
export const sqlStore = (
  sql: Sql,
  options: {
    readonly clock: Clock;
    readonly keyring: Keyring;
    readonly log: Log;
    readonly close: () => Promise<void>;
  },
): Store => {
  const { clock, keyring, log, close } = options;
  return {
    ...sqlShapes(sql, clock),
    leases: sqlLeases(sql, clock),
    secrets: sqlSecrets(sql, keyring, log),
    withLease: (lease) => sqlShapes(withLease(sql, lease, clock), clock),
    [Symbol.asyncDispose]: close,
  };
};

const sqlShapes = (sql: Sql, clock: Clock): Shapes => ({
  keyValue: <T>(space: string) => sqlKeyValue<T>(sql, space, clock),
  documents: <T>(collection: string) => sqlDocuments<T>(sql, collection, clock),
  ledger: <T>(name: string) => sqlLedger<T>(sql, name, clock),
});
