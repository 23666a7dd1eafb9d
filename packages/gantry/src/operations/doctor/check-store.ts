import { shownDatabase } from '../../store/postgres/database-url.ts';
import type { DoctorCheck } from './doctor-report.ts';

/** What is known of the store. */
export interface StoreFacts {
  /** The database's URL, where one is configured. */
  readonly url: string | undefined;
  readonly storeFile: string;
  /** Reads something from the store that is open. */
  readonly read: () => Promise<unknown>;
  /** A key that every process which shares the database can be given. */
  readonly hasConfiguredKey: boolean;
}

/** Where state is kept, and whether it can be read now. */
export const checkStore = async ({ url, storeFile, read, hasConfiguredKey }: StoreFacts): Promise<DoctorCheck> => {
  const name = 'store';
  try {
    await read();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { name, state: 'broken', message, fix: 'Do what the message says.' };
  }
  if (url === undefined) return { name, state: 'ok', message: `SQLite, ${storeFile}` };
  const message = `PostgreSQL, ${shownDatabase(url)}`;
  if (hasConfiguredKey) return { name, state: 'ok', message };
  return {
    name,
    state: 'warning',
    message: `${message}; the encryption key is a file of this machine`,
    fix: 'Set GANTRY_CRYPTO_SECRET, to the same value for every gateway on this database; docs/scaling-out.md says how the key of the file stays readable.',
  };
};
