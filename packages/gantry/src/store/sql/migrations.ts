import { sql as raw } from 'kysely';
import type { Queries } from './sql.ts';

/** One step forward of the schema. Steps are never changed once released, only added. */
export type Migration = (queries: Queries) => Promise<void>;

// Written in the part of SQL that SQLite and PostgreSQL share.
const statements = (...texts: readonly string[]): Migration => {
  return async (queries) => {
    for (const text of texts) await raw.raw(text).execute(queries);
  };
};

/**
 * All steps, for a database whose texts compare byte by byte when they are declared as `text`; the version of a store is how many of the
 * steps it has taken.
 */
export const migrationsFor = (text: string): readonly Migration[] => [
  statements(
    `create table key_value (
      space ${text} not null, key ${text} not null, value ${text} not null, capped integer not null,
      written_at_ms bigint not null, expires_at_ms bigint, primary key (space, key))`,
    'create index key_value_expiry on key_value (space, expires_at_ms)',
    `create table document (
      collection ${text} not null, id ${text} not null, value ${text} not null, revision bigint not null,
      written_at_ms bigint not null, primary key (collection, id))`,
    `create table ledger (
      ledger ${text} not null, id ${text} not null, value ${text} not null, owner ${text} not null, owner_group ${text},
      created_at_ms bigint not null, expires_at_ms bigint,
      settled_as ${text}, settled_reason ${text}, settled_at_ms bigint, primary key (ledger, id))`,
    'create index ledger_expiry on ledger (ledger, settled_at_ms, expires_at_ms)',
    'create index ledger_owner on ledger (ledger, owner, settled_at_ms)',
    `create table lease (
      name ${text} not null primary key, owner_id ${text} not null, fence bigint not null, expires_at_ms bigint not null)`,
    `create table secret (name ${text} not null primary key, sealed ${text} not null, key_id ${text} not null)`,
  ),
  statements(
    'alter table document add column position bigint',
    'create index document_position on document (collection, position, id) where position is not null',
  ),
];

/** The steps for SQLite. */
export const migrations: readonly Migration[] = migrationsFor('text');
