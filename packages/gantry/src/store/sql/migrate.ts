import type { Clock } from '../../kernel/clock.ts';
import { GantryError } from '../../kernel/errors.ts';
import { allOf } from './claims.ts';
import type { Migration } from './migrations.ts';
import { migrations } from './migrations.ts';
import type { Sql } from './sql.ts';

/**
 * Brings the schema forward, all steps in one transaction; of two processes that start at once, the second finds it done.
 * @throws {GantryError} `store_too_new` when a newer Gantry wrote the store, which is left as it is.
 */
export const migrate = (sql: Sql, clock: Clock, steps: readonly Migration[] = migrations): Promise<void> =>
  sql.write(allOf('schema_version'), async (queries) => {
    await queries.schema
      .createTable('schema_version')
      .ifNotExists()
      .addColumn('version', 'integer', (column) => column.primaryKey())
      .addColumn('applied_at_ms', 'bigint', (column) => column.notNull())
      .execute();
    const newest = queries.selectFrom('schema_version').select((eb) => eb.fn.max('version').as('version'));
    const found = (await newest.executeTakeFirst())?.version ?? 0;
    if (found > steps.length)
      throw new GantryError(
        'store_too_new',
        `The store has schema version ${found}; this Gantry knows up to ${steps.length}. Install the newer Gantry that wrote it.`,
        { details: { found, supported: steps.length } },
      );
    for (const [index, step] of steps.entries()) {
      if (index < found) continue;
      await step(queries);
      await queries
        .insertInto('schema_version')
        .values({ version: index + 1, applied_at_ms: clock.nowMs() })
        .execute();
    }
  });
