import { describe, expect, it } from 'vitest';
import { GantryError } from '../../kernel/errors.ts';
import { checkStore } from './check-store.ts';

const url = 'postgres://user:hunter2@db.example:5432/gantry';
const facts = { url, storeFile: '/data/gantry.db', read: async () => [], hasConfiguredKey: true };

describe('checkStore', () => {
  it('names the file where there is no database', async () => {
    expect(await checkStore({ ...facts, url: undefined, hasConfiguredKey: false })).toEqual({
      name: 'store',
      state: 'ok',
      message: 'SQLite, /data/gantry.db',
    });
  });

  it('names the database without user and password', async () => {
    expect(await checkStore(facts)).toEqual({
      name: 'store',
      state: 'ok',
      message: 'PostgreSQL, db.example:5432/gantry',
    });
  });

  it('warns when others who share the database could not have the key', async () => {
    expect(await checkStore({ ...facts, hasConfiguredKey: false })).toMatchObject({
      state: 'warning',
      fix: expect.stringContaining('GANTRY_CRYPTO_SECRET') as string,
    });
  });

  it('passes on why it cannot be read', async () => {
    const read = () => Promise.reject(new GantryError('store_unavailable', 'The store is away.'));
    expect(await checkStore({ ...facts, read })).toMatchObject({ state: 'broken', message: 'The store is away.' });
  });
});
