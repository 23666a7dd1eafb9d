import type { GuardedClientOptions, GuardedInit } from './guarded-client.ts';
import { createGuardedClient } from './guarded-client.ts';

/**
 * Fetches one URL that somebody else named, under `options.policy` (default: only the public internet). Takes and gives what `fetch`
 * does; for more than a call now and then make a client, which keeps its connections.
 *
 * @throws {GantryError} as {@link createGuardedClient}'s `fetch` does.
 */
export const guardedFetch = async (
  url: string | URL,
  init: GuardedInit = {},
  options: GuardedClientOptions = {},
): Promise<Response> => {
  const client = createGuardedClient(options);
  try {
    return await client.fetch(url, init);
  } finally {
    // Closing waits for the body, which its reader may not have begun.
    void client.close();
  }
};
