import type { Clock } from '../../kernel/clock.ts';
import { GantryError } from '../../kernel/errors.ts';
import type { Lease, Leases } from '../leases.ts';
import { leaseKept, leaseOf } from './claims.ts';
import type { Queries, Sql } from './sql.ts';

/** {@link Leases} in the table `lease`. A released lease keeps its row, so that fences never start over. */
export const sqlLeases = (sql: Sql, clock: Clock): Leases => ({
  acquire: (name, ownerId, ttlMs) =>
    sql.write(leaseOf(name), async (queries) => {
      const nowMs = clock.nowMs();
      const expiresAtMs = nowMs + ttlMs;
      const row = await queries
        .insertInto('lease')
        .values({ name, owner_id: ownerId, fence: 1, expires_at_ms: expiresAtMs })
        .onConflict((conflict) =>
          conflict
            .column('name')
            .doUpdateSet((eb) => ({
              owner_id: ownerId,
              fence: eb('lease.fence', '+', 1),
              expires_at_ms: expiresAtMs,
            }))
            .where((eb) => eb.or([eb('lease.expires_at_ms', '<=', nowMs), eb('lease.owner_id', '=', ownerId)])),
        )
        .returning('fence')
        .executeTakeFirst();
      return row && { name, ownerId, fence: row.fence, expiresAtMs };
    }),
  renew: (lease, ttlMs) =>
    sql.write(leaseOf(lease.name), async (queries) => {
      const expiresAtMs = clock.nowMs() + ttlMs;
      const changed = await setExpiry(queries, lease, expiresAtMs);
      return changed ? { ...lease, expiresAtMs } : undefined;
    }),
  release: (lease) =>
    sql.write(leaseOf(lease.name), async (queries) => {
      await setExpiry(queries, lease, released);
    }),
  isCurrent: (lease) => sql.read((queries) => isHeld(queries, lease, clock.nowMs())),
});

/** The same database, whose writes fail with `lease_lost` unless the lease is current in their transaction. */
export const withLease = (sql: Sql, lease: Lease, clock: Clock): Sql => ({
  read: (work) => sql.read(work),
  write: (claims, work) =>
    sql.write([leaseKept(lease.name), ...claims], async (queries) => {
      if (await isHeld(queries, lease, clock.nowMs())) return work(queries);
      throw new GantryError(
        'lease_lost',
        `The lease "${lease.name}" (fence ${lease.fence}) ran out or went to another owner; nothing was written.`,
        { details: { name: lease.name, fence: lease.fence } },
      );
    }),
});

const released = 0;

const setExpiry = async (queries: Queries, lease: Lease, expiresAtMs: number): Promise<boolean> => {
  const { numUpdatedRows } = await queries
    .updateTable('lease')
    .set({ expires_at_ms: expiresAtMs })
    .where('name', '=', lease.name)
    .where('fence', '=', lease.fence)
    .where('expires_at_ms', '!=', released)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
};

const isHeld = async (queries: Queries, lease: Lease, nowMs: number): Promise<boolean> => {
  const query = queries.selectFrom('lease').select('fence').where('name', '=', lease.name);
  const row = await query.where('fence', '=', lease.fence).where('expires_at_ms', '>', nowMs).executeTakeFirst();
  return row !== undefined;
};
