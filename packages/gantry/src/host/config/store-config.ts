import * as z from 'zod';
import { isDatabaseUrl } from '../../store/postgres/database-url.ts';

/** Section `store`: where state is kept. */
export interface StoreConfig {
  readonly url?: string | undefined;
  readonly maxConnections: number;
}

/** Section `store`. */
export const storeConfig: z.ZodType<StoreConfig> = z.strictObject({
  url: z
    .string()
    .refine(
      isDatabaseUrl,
      'no PostgreSQL URL; write postgres://user:password@host:5432/database, with special characters of user and password escaped',
    )
    .optional()
    .describe(
      'PostgreSQL database, postgres://user:password@host:5432/database, which several gateways may share; default none, an SQLite file in the data folder.',
    ),
  maxConnections: z
    .number()
    .int()
    .positive()
    .max(1000)
    .default(10)
    .describe('Most connections of this process to the database.'),
});
