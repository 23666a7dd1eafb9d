import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../kernel/clock.ts';
import { silentLog } from '../kernel/log.ts';
import { testKeyring } from '../testing/test-keyring.ts';
import type { Keyring } from './keyring.ts';
import { refuseOtherKey } from './refuse-other-key.ts';
import { openSqliteStore } from './sqlite/open-sqlite-store.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-key-'));
});
afterEach(() => rm(folder, { recursive: true }));

/** Opens the shared store as a process with these keys. */
const check = async (keyring: Keyring): Promise<void> => {
  const path = join(folder, 'store.db');
  await using store = await openSqliteStore({ path, clock: systemClock, keyring, log: silentLog });
  await refuseOtherKey(store, keyring.currentId);
};

const refused = { code: 'config_invalid', details: { path: 'GANTRY_CRYPTO_SECRET' } };

describe('refuseOtherKey', () => {
  it('lets in whoever has the key of the first', async () => {
    await check(testKeyring('k1'));
    await check(testKeyring('k1'));
  });

  it('refuses another key, also one that has the same name', async () => {
    await check(testKeyring('k1'));
    await expect(check(testKeyring('k2'))).rejects.toMatchObject(refused);
    const sameName = { currentId: 'k1', keys: new Map([['k1', Buffer.alloc(32, 7)]]) };
    await expect(check(sameName)).rejects.toMatchObject(refused);
  });

  it('asks for the newer key once somebody encrypts with it', async () => {
    await check(testKeyring('k1'));
    await check(testKeyring('k1', 'k2'));
    await check(testKeyring('k2'));
    await expect(check(testKeyring('k1'))).rejects.toMatchObject(refused);
  });

  it('lets in one of two who begin at once with different keys', async () => {
    const results = await Promise.allSettled([check(testKeyring('k1')), check(testKeyring('k2'))]);
    expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  });
});
