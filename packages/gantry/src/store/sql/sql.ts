import type { Kysely } from 'kysely';
import type { Tables } from './tables.ts';

/** Queries as the shapes write them: with kysely, for SQLite and PostgreSQL alike. */
export type Queries = Kysely<Tables>;

/**
 * A part of the store that a write claims until it is committed. Writes whose claims on one part meet run one after the other, unless both
 * share it.
 */
export interface Claim {
  readonly on: string;
  /** Default false: alone. */
  readonly isShared?: boolean | undefined;
}

/** What a database must give the shapes. */
export interface Sql {
  /** Runs reads. They see what is committed, nothing else. */
  read<T>(work: (queries: Queries) => Promise<T>): Promise<T>;
  /**
   * Runs the work in a transaction as if no other write ran that claims the same, and resolves once it is durable. Work that throws leaves
   * nothing behind. It awaits nothing but its queries, and touches nothing but what it claims.
   */
  write<T>(claims: readonly Claim[], work: (queries: Queries) => Promise<T>): Promise<T>;
}
