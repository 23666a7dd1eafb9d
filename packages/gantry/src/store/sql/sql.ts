import type { Kysely } from 'kysely';
import type { Tables } from './tables.ts';

/** Queries as the shapes write them: with kysely, for SQLite and PostgreSQL alike. */
export type Queries = Kysely<Tables>;

/** What a database must give the shapes. */
export interface Sql {
  /** Runs reads. They see what is committed, nothing else. */
  read<T>(work: (queries: Queries) => Promise<T>): Promise<T>;
  /**
   * Runs the work in a transaction as if no other ran (serialisable), and resolves once it is durable. Work that throws leaves
   * nothing behind. It awaits nothing but its queries.
   */
  write<T>(work: (queries: Queries) => Promise<T>): Promise<T>;
}
