import { randomBytes } from 'node:crypto';
import type { Clock } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';
import { parseCryptoSecrets } from '../store/crypto-secrets.ts';
import type { Keyring } from '../store/keyring.ts';
import { loadKeyring } from '../store/load-keyring.ts';
import { refuseOtherKey } from '../store/refuse-other-key.ts';
import { openSqliteStore } from '../store/sqlite/open-sqlite-store.ts';
import type { Store } from '../store/store.ts';
import type { StoreConfig } from './config/store-config.ts';
import { prepareDataDir } from './gateway-lock.ts';
import type { GantryPaths } from './paths.ts';

/** What a store is opened with. */
export interface OpenStoreOptions {
  readonly paths: GantryPaths;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly log: Log;
}

/** A store that ends with this process. */
export const openMemoryStore = ({ clock, log }: Pick<OpenStoreOptions, 'clock' | 'log'>): Promise<Store> => {
  const keyring: Keyring = { currentId: 'memory', keys: new Map([['memory', randomBytes(32)]]) };
  return openSqliteStore({ path: ':memory:', clock, keyring, log });
};

/**
 * Opens the store: an SQLite file in the data folder, or with `store.url` a PostgreSQL database. Makes the data folder either way.
 * @throws {GantryError} `data_dir_unwritable`, `store_too_new`, `store_unavailable`, `package_missing`; `config_invalid` when the encryption
 * key cannot be used, or is not that of the others who share the database.
 */
export const openStore = async (config: StoreConfig, options: OpenStoreOptions): Promise<Store> => {
  const { paths, env, clock, log } = options;
  const { keyFile, dataDir, storeFile } = paths;
  await prepareDataDir(dataDir);
  const keyring = await loadKeyring({ configured: parseCryptoSecrets(env), keyFile, dataDir });
  const { url, maxConnections } = config;
  if (url === undefined) return openSqliteStore({ path: storeFile, clock, keyring, log });
  // Only those who have a database load what speaks to it.
  const { openPostgresStore } = await import('../store/postgres/open-postgres-store.ts');
  const store = await openPostgresStore({ url, maxConnections, clock, keyring, log });
  try {
    await refuseOtherKey(store, keyring.currentId);
    return store;
  } catch (error) {
    await store[Symbol.asyncDispose]();
    throw error;
  }
};
