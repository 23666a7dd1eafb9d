import { GantryError } from '../../kernel/errors.ts';
import type { Log } from '../../kernel/log.ts';
import type { Keyring } from '../keyring.ts';
import { keyIdOf, openText, sealText } from '../seal.ts';
import type { Secrets } from '../secrets.ts';
import { rowOf } from './claims.ts';
import type { Sql } from './sql.ts';

const group = 'secret';

/** {@link Secrets} in the table `secret`. */
export const sqlSecrets = (sql: Sql, keyring: Keyring, log: Log): Secrets => {
  const openStored = (name: string, sealed: string): string => openText(keyring, sealed, { purpose: 'stored', name });
  const sealStored = (name: string, plaintext: string): { sealed: string; key_id: string } => {
    const sealed = sealText(keyring, plaintext, { purpose: 'stored', name });
    return { sealed, key_id: keyIdOf(sealed) };
  };
  /** Replaces the ciphertext, unless the secret was set anew since it was read. */
  const reseal = (name: string, earlier: string): Promise<void> => {
    const content = sealStored(name, openStored(name, earlier));
    return sql.write(rowOf(group, name), async (queries) => {
      await queries.updateTable('secret').set(content).where('name', '=', name).where('sealed', '=', earlier).execute();
    });
  };

  return {
    put: (name, plaintext) =>
      sql.write(rowOf(group, name), async (queries) => {
        const content = sealStored(name, plaintext);
        await queries
          .insertInto('secret')
          .values({ name, ...content })
          .onConflict((conflict) => conflict.column('name').doUpdateSet(content))
          .execute();
      }),
    get: async (name) => {
      const row = await sql.read((queries) =>
        queries.selectFrom('secret').selectAll().where('name', '=', name).executeTakeFirst(),
      );
      if (!row) return undefined;
      const plaintext = openStored(name, row.sealed);
      if (row.key_id !== keyring.currentId) await reseal(name, row.sealed);
      return plaintext;
    },
    delete: (name) =>
      sql.write(rowOf(group, name), async (queries) => {
        const query = queries.deleteFrom('secret').where('name', '=', name);
        return (await query.executeTakeFirstOrThrow()).numDeletedRows > 0n;
      }),
    rotate: async () => {
      const rows = await sql.read((queries) =>
        queries.selectFrom('secret').selectAll().where('key_id', '!=', keyring.currentId).execute(),
      );
      let unreadable = 0;
      for (const { name, sealed, key_id: keyId } of rows)
        try {
          await reseal(name, sealed);
        } catch (error) {
          if (!GantryError.is(error) || error.code !== 'secret_unreadable') throw error;
          unreadable += 1;
          log.error({ name, keyId, err: error }, 'A secret could not be encrypted anew.');
        }
      return { resealed: rows.length - unreadable, unreadable };
    },
    seal: (plaintext, context) => sealText(keyring, plaintext, { purpose: 'carried', name: context }),
    open: (sealed, context) => openText(keyring, sealed, { purpose: 'carried', name: context }),
  };
};
