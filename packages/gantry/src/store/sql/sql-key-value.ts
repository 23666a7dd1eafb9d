import type { Expression, ExpressionBuilder, SqlBool } from 'kysely';
import type { Clock } from '../../kernel/clock.ts';
import type { EntryCap, KeyValue, KeyValueEntry } from '../key-value.ts';
import { allOf, rowOf } from './claims.ts';
import { toPathRange } from './path-range.ts';
import type { Queries, Sql } from './sql.ts';
import type { Tables } from './tables.ts';

type Where = (eb: ExpressionBuilder<Tables, 'key_value'>) => Expression<SqlBool>;

/** A {@link KeyValue} in the table `key_value`. */
export const sqlKeyValue = <T>(sql: Sql, space: string, clock: Clock): KeyValue<T> => {
  const group = `key_value\n${space}`;
  const live: Where = (eb) => eb.or([eb('expires_at_ms', 'is', null), eb('expires_at_ms', '>', clock.nowMs())]);
  const hasRoom = async (queries: Queries, key: string, cap: EntryCap): Promise<boolean> => {
    const existing = queries.selectFrom('key_value').select('key').where('space', '=', space).where('key', '=', key);
    if (await existing.where(live).executeTakeFirst()) return true;
    const taken = await countRows(queries, space, below(cap.under), (eb) => eb.and([live(eb), eb('capped', '=', 1)]));
    return taken < cap.maxEntries;
  };

  return {
    get: async (key) => {
      const query = (queries: Queries) =>
        queries.selectFrom('key_value').selectAll().where('space', '=', space).where('key', '=', key).where(live);
      const row = await sql.read((queries) => query(queries).executeTakeFirst());
      return row && toEntry<T>(row);
    },
    set: (key, value, options = {}) =>
      sql.write(options.cap ? allOf(group) : rowOf(group, key), async (queries) => {
        if (options.cap && !(await hasRoom(queries, key, options.cap))) return false;
        const nowMs = clock.nowMs();
        const content = {
          value: JSON.stringify(value),
          capped: options.cap ? 1 : 0,
          written_at_ms: nowMs,
          expires_at_ms: options.ttlMs === undefined ? null : Math.ceil(nowMs + options.ttlMs),
        };
        await queries
          .insertInto('key_value')
          .values({ space, key, ...content })
          .onConflict((conflict) => conflict.columns(['space', 'key']).doUpdateSet(content))
          .execute();
        return true;
      }),
    delete: (key) =>
      sql.write(rowOf(group, key), async (queries) => {
        const query = queries.deleteFrom('key_value').where('space', '=', space).where('key', '=', key);
        const row = await query.returning('expires_at_ms').executeTakeFirst();
        return row !== undefined && (row.expires_at_ms === null || row.expires_at_ms > clock.nowMs());
      }),
    list: async (under) => {
      const query = (queries: Queries) =>
        queries.selectFrom('key_value').selectAll().where('space', '=', space).where(below(under)).where(live);
      const rows = await sql.read((queries) => query(queries).orderBy('key').execute());
      return rows.map(toEntry<T>);
    },
    count: (under) => sql.read((queries) => countRows(queries, space, below(under), live)),
    sweep: () =>
      sql.write(allOf(group), async (queries) => {
        const query = queries.deleteFrom('key_value').where('space', '=', space);
        const { numDeletedRows } = await query.where('expires_at_ms', '<=', clock.nowMs()).executeTakeFirstOrThrow();
        return Number(numDeletedRows);
      }),
  };
};

const below = (path: string): Where => {
  const range = toPathRange(path);
  return (eb) =>
    range
      ? eb.or([eb('key', '=', range.self), eb.and([eb('key', '>=', range.from), eb('key', '<', range.before)])])
      : eb.lit(true);
};

const countRows = async (queries: Queries, space: string, ...conditions: Where[]): Promise<number> => {
  let query = queries
    .selectFrom('key_value')
    .select((eb) => eb.fn.countAll().as('rows'))
    .where('space', '=', space);
  for (const condition of conditions) query = query.where(condition);
  return Number((await query.executeTakeFirstOrThrow()).rows);
};

const toEntry = <T>(row: Tables['key_value']): KeyValueEntry<T> => ({
  key: row.key,
  value: JSON.parse(row.value) as T,
  writtenAtMs: row.written_at_ms,
  expiresAtMs: row.expires_at_ms ?? undefined,
});
