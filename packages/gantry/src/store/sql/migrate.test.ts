import { DatabaseSync } from 'node:sqlite';
import { Kysely } from 'kysely';
import { describe, expect, it } from 'vitest';
import { fakeClock } from '../../testing/fake-clock.ts';
import { sqliteDialect } from '../sqlite/sqlite-dialect.ts';
import { migrate } from './migrate.ts';
import type { Migration } from './migrations.ts';
import type { Sql } from './sql.ts';
import type { Tables } from './tables.ts';

const openSql = (): Sql => {
  const queries = new Kysely<Tables>({ dialect: sqliteDialect(new DatabaseSync(':memory:')) });
  return { read: (work) => work(queries), write: (_claims, work) => queries.transaction().execute(work) };
};
const versions = (sql: Sql): Promise<number[]> =>
  sql.read(async (queries) =>
    (await queries.selectFrom('schema_version').select('version').orderBy('version').execute()).map(
      (row) => row.version,
    ),
  );

describe('migrate', () => {
  it('takes the steps that are new, in order, and each only once', async () => {
    const sql = openSql();
    const taken: string[] = [];
    const step =
      (name: string): Migration =>
      async () =>
        void taken.push(name);
    await migrate(sql, fakeClock(), [step('one')]);
    await migrate(sql, fakeClock(), [step('one'), step('two'), step('three')]);
    expect(taken).toEqual(['one', 'two', 'three']);
    expect(await versions(sql)).toEqual([1, 2, 3]);
  });

  it('undoes everything when a step fails', async () => {
    const sql = openSql();
    const create: Migration = (queries) => queries.schema.createTable('extra').addColumn('id', 'text').execute();
    const fail: Migration = () => Promise.reject(new RangeError('step two'));
    await expect(migrate(sql, fakeClock(), [create, fail])).rejects.toThrow('step two');
    await migrate(sql, fakeClock(), [create]);
    expect(await versions(sql)).toEqual([1]);
  });
});
