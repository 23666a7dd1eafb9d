import type { Clock } from '../../kernel/clock.ts';
import { GantryError } from '../../kernel/errors.ts';
import type { Documents, StoredDocument } from '../documents.ts';
import { rowOf } from './claims.ts';
import type { Queries, Sql } from './sql.ts';
import type { Tables } from './tables.ts';

/** {@link Documents} in the table `document`. */
export const sqlDocuments = <T>(sql: Sql, collection: string, clock: Clock): Documents<T> => {
  const group = `document\n${collection}`;
  const select = (queries: Queries) => queries.selectFrom('document').selectAll().where('collection', '=', collection);
  /** The stored revision, 0 when there is none; throws when it is not the one that is asked for. */
  const revisionOf = async (queries: Queries, id: string, ifRevision: number | undefined): Promise<number> => {
    const revision = (await select(queries).where('id', '=', id).executeTakeFirst())?.revision ?? 0;
    if (ifRevision === undefined || ifRevision === revision) return revision;
    throw new GantryError(
      'revision_conflict',
      `"${id}" in ${collection} is at revision ${revision}, not ${ifRevision}; read it again and repeat the change.`,
      { details: { id, ifRevision } },
    );
  };

  return {
    get: async (id) => {
      const row = await sql.read((queries) => select(queries).where('id', '=', id).executeTakeFirst());
      return row && toDocument<T>(row);
    },
    put: (id, value, options = {}) =>
      sql.write(rowOf(group, id), async (queries) => {
        const content = {
          value: JSON.stringify(value),
          written_at_ms: clock.nowMs(),
          position: options.order ?? null,
        };
        if (options.ifRevision !== undefined) await revisionOf(queries, id, options.ifRevision);
        const row = await queries
          .insertInto('document')
          .values({ collection, id, revision: 1, ...content })
          .onConflict((conflict) =>
            conflict
              .columns(['collection', 'id'])
              .doUpdateSet((eb) => ({ ...content, revision: eb('document.revision', '+', 1) })),
          )
          .returning('revision')
          .executeTakeFirstOrThrow();
        return row.revision;
      }),
    delete: (id, options = {}) =>
      sql.write(rowOf(group, id), async (queries) => {
        if ((await revisionOf(queries, id, options.ifRevision)) === 0) return false;
        await queries.deleteFrom('document').where('collection', '=', collection).where('id', '=', id).execute();
        return true;
      }),
    list: async ({ after, limit } = {}) => {
      const query = (queries: Queries) =>
        select(queries)
          .$if(after !== undefined, (some) => some.where('id', '>', after as string))
          .$if(limit !== undefined, (some) => some.limit(limit as number))
          .orderBy('id');
      const rows = await sql.read((queries) => query(queries).execute());
      return rows.map(toDocument<T>);
    },
    earliest: async (limit) => {
      const query = (queries: Queries) =>
        select(queries).where('position', 'is not', null).orderBy('position').orderBy('id').limit(limit);
      const rows = await sql.read((queries) => query(queries).execute());
      return rows.map((row) => ({ ...toDocument<T>(row), order: row.position as number }));
    },
  };
};

const toDocument = <T>(row: Tables['document']): StoredDocument<T> => ({
  id: row.id,
  value: JSON.parse(row.value) as T,
  revision: row.revision,
  writtenAtMs: row.written_at_ms,
});
