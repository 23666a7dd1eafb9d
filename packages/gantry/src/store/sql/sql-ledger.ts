import type { Expression, ExpressionBuilder, SqlBool } from 'kysely';
import type { Clock } from '../../kernel/clock.ts';
import { GantryError } from '../../kernel/errors.ts';
import type { Ledger, LedgerCaps, LedgerEntry, LedgerFilter, Settlement } from '../ledger.ts';
import { allOf, rowOf } from './claims.ts';
import type { Queries, Sql } from './sql.ts';
import type { Tables } from './tables.ts';

type Where = (eb: ExpressionBuilder<Tables, 'ledger'>) => Expression<SqlBool>;

/** A {@link Ledger} in the table `ledger`. */
export const sqlLedger = <T>(sql: Sql, name: string, clock: Clock): Ledger<T> => {
  const group = `ledger\n${name}`;
  const select = (queries: Queries) => queries.selectFrom('ledger').selectAll().where('ledger', '=', name);
  const settle = (queries: Queries, settlement: Settlement) =>
    queries
      .updateTable('ledger')
      .set({
        settled_as: settlement.as,
        settled_reason: settlement.reason ?? null,
        settled_at_ms: clock.nowMs(),
      })
      .where('ledger', '=', name)
      .where('settled_at_ms', 'is', null)
      .returningAll();
  const countRows = async (queries: Queries, filter: LedgerFilter): Promise<number> => {
    const query = queries.selectFrom('ledger').where('ledger', '=', name).where(fits(filter));
    const row = await query.select((eb) => eb.fn.countAll().as('rows')).executeTakeFirstOrThrow();
    return Number(row.rows);
  };
  const refuseAbove = async (queries: Queries, scope: string, limit: number | undefined, filter: LedgerFilter) => {
    if (limit === undefined || (await countRows(queries, filter)) < limit) return;
    throw new GantryError('limit_reached', `${scope} has ${limit} open ${name} already, which is the most allowed.`, {
      details: { limit, scope },
    });
  };

  return {
    put: (entry, caps: LedgerCaps = {}) =>
      sql.write(isCapped(caps) ? allOf(group) : rowOf(group, entry.id), async (queries) => {
        const { owner } = entry;
        await refuseAbove(queries, `"${owner}"`, caps.maxOpenOfOwner, { open: true, owner });
        await refuseAbove(queries, 'This gateway', caps.maxOpen, { open: true });
        const { numInsertedOrUpdatedRows } = await queries
          .insertInto('ledger')
          .values({
            ledger: name,
            id: entry.id,
            value: JSON.stringify(entry.value),
            owner,
            owner_group: entry.group ?? null,
            created_at_ms: clock.nowMs(),
            expires_at_ms: entry.expiresAtMs === undefined ? null : Math.ceil(entry.expiresAtMs),
            settled_as: null,
            settled_reason: null,
            settled_at_ms: null,
          })
          .onConflict((conflict) => conflict.columns(['ledger', 'id']).doNothing())
          .executeTakeFirstOrThrow();
        if (numInsertedOrUpdatedRows === 0n)
          throw new GantryError('record_exists', `There is an entry "${entry.id}" in ${name} already; use a new id.`, {
            details: { id: entry.id },
          });
      }),
    get: async (id) => {
      const row = await sql.read((queries) => select(queries).where('id', '=', id).executeTakeFirst());
      return row && toLedgerEntry<T>(row);
    },
    update: (id, change) =>
      sql.write(rowOf(group, id), async (queries) => {
        const row = await select(queries).where('id', '=', id).executeTakeFirst();
        if (!row) return undefined;
        const value = JSON.stringify(change(JSON.parse(row.value) as T));
        const query = queries.updateTable('ledger').set({ value }).where('ledger', '=', name).where('id', '=', id);
        await query.execute();
        return toLedgerEntry<T>({ ...row, value });
      }),
    take: (id, settlement) =>
      sql.write(rowOf(group, id), async (queries) => {
        const row = await settle(queries, settlement)
          .where('id', '=', id)
          .where((eb) => eb.or([eb('expires_at_ms', 'is', null), eb('expires_at_ms', '>', clock.nowMs())]))
          .executeTakeFirst();
        return row && toLedgerEntry<T>(row);
      }),
    reopen: (id) =>
      sql.write(rowOf(group, id), async (queries) => {
        const row = await queries
          .updateTable('ledger')
          .set({ settled_as: null, settled_reason: null, settled_at_ms: null })
          .where('ledger', '=', name)
          .where('id', '=', id)
          .where('settled_at_ms', 'is not', null)
          .returningAll()
          .executeTakeFirst();
        return row && toLedgerEntry<T>(row);
      }),
    list: async (filter = {}) => {
      const rows = await sql.read((queries) => {
        const query = select(queries)
          .where(fits(filter))
          .orderBy(filter.expiringBeforeMs === undefined ? 'created_at_ms' : 'expires_at_ms')
          .orderBy('id');
        return (filter.limit === undefined ? query : query.limit(filter.limit)).execute();
      });
      return rows.map(toLedgerEntry<T>);
    },
    count: (filter = {}) => sql.read((queries) => countRows(queries, filter)),
    nextExpiryMs: async () => {
      const row = await sql.read((queries) =>
        queries
          .selectFrom('ledger')
          .select((eb) => eb.fn.min('expires_at_ms').as('next'))
          .where('ledger', '=', name)
          .where('settled_at_ms', 'is', null)
          .executeTakeFirstOrThrow(),
      );
      return row.next ?? undefined;
    },
    expire: () =>
      sql.write(allOf(group), async (queries) => {
        const rows = await settle(queries, { as: 'expired' }).where('expires_at_ms', '<=', clock.nowMs()).execute();
        return rows.map(toLedgerEntry<T>);
      }),
    purge: (settledBeforeMs) =>
      sql.write(allOf(group), async (queries) => {
        const query = queries.deleteFrom('ledger').where('ledger', '=', name);
        const { numDeletedRows } = await query.where('settled_at_ms', '<', settledBeforeMs).executeTakeFirstOrThrow();
        return Number(numDeletedRows);
      }),
  };
};

const isCapped = ({ maxOpen, maxOpenOfOwner }: LedgerCaps): boolean =>
  maxOpen !== undefined || maxOpenOfOwner !== undefined;

const fits =
  ({ open, owner, group, expiringBeforeMs }: LedgerFilter): Where =>
  (eb) =>
    eb.and([
      ...(open === undefined ? [] : [eb('settled_at_ms', open ? 'is' : 'is not', null)]),
      ...(owner === undefined ? [] : [eb('owner', '=', owner)]),
      ...(group === undefined ? [] : [eb('owner_group', '=', group)]),
      ...(expiringBeforeMs === undefined ? [] : [eb('expires_at_ms', '<', expiringBeforeMs)]),
    ]);

const toLedgerEntry = <T>(row: Tables['ledger']): LedgerEntry<T> => ({
  id: row.id,
  owner: row.owner,
  group: row.owner_group ?? undefined,
  createdAtMs: row.created_at_ms,
  expiresAtMs: row.expires_at_ms ?? undefined,
  value: JSON.parse(row.value) as T,
  settlement:
    row.settled_as === null || row.settled_at_ms === null
      ? undefined
      : { as: row.settled_as, reason: row.settled_reason ?? undefined, atMs: row.settled_at_ms },
});
