import type * as Postgres from 'pg';
import { GantryError } from '../../kernel/errors.ts';

const packageName = 'pg';

/**
 * The optional package `pg`.
 * @throws {GantryError} `package_missing`
 */
export const loadPg = async (): Promise<typeof Postgres> => {
  try {
    return await import('pg');
  } catch (error) {
    const install = `npm install ${packageName}`;
    throw new GantryError('package_missing', `A store in PostgreSQL needs ${packageName}; run "${install}".`, {
      details: { package: packageName, install },
      cause: error,
    });
  }
};
