import { startDeadline } from '../../../kernel/abort.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { GantryError } from '../../../kernel/errors.ts';
import { flattenText } from '../../../text/flatten.ts';
import type { ServerDirectory } from '../call/server-directory.ts';
import { unknownServerText } from '../../wire/unknown-server.ts';
import { notReachable } from '../call/server-directory.ts';
import { toConnectionFault } from '../connection/connection-errors.ts';
import { noSdkTimeoutMs } from '../connection/sdk.ts';
import { rawResult } from '../connection/watch-transport.ts';
import type { ManagedServer, Offer, Snapshot } from '../server/managed-server.ts';

// Within the half minute that management requests are waited for.
const budgetMs = 25_000;

/**
 * The server of that name, in any case.
 * @throws {GantryError} `server_unknown`
 */
export const serverNamed = (servers: ServerDirectory, name: string): ManagedServer => {
  const server = servers.get(name.toLowerCase());
  if (server) return server;
  throw new GantryError('server_unknown', unknownServerText(name), { details: { name } });
};

/**
 * What a server offers, connecting it when that is not known.
 * @throws {GantryError} `server_unknown`, `server_unreachable`, `auth_required`
 */
export const offerOf = async (servers: ServerDirectory, name: string, clock: Clock): Promise<Offer> => {
  const server = serverNamed(servers, name);
  if (server.offer) return server.offer;
  return await withSnapshot(server, clock, 'the server to connect', async (snapshot) => snapshot);
};

/**
 * Sends one request to a server and gives its result as the server wrote it.
 * @param what names the request in the error when time is up.
 * @throws {GantryError} `timeout`, `server_unreachable`, `auth_required`, or `execution_failed` with what the server said.
 */
export const askServer = async (
  server: ManagedServer,
  clock: Clock,
  request: { readonly method: 'prompts/get' | 'resources/read'; readonly params: Record<string, unknown> },
  what: string,
): Promise<unknown> =>
  await withSnapshot(server, clock, what, async ({ connection }, signal) => {
    const hadSession = connection.hasSession();
    try {
      return await connection.client.request(request, rawResult, { signal, timeout: noSdkTimeoutMs });
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      const fault = toConnectionFault(error, { hadSession, mask: server.maskSecrets });
      const code = fault.kind === 'auth' ? 'auth_required' : 'execution_failed';
      throw new GantryError(code, flattenText(fault.message, { maxChars: 1_000 }), {
        details: { server: server.name },
        cause: error,
      });
    }
  });

const withSnapshot = async <T>(
  server: ManagedServer,
  clock: Clock,
  what: string,
  work: (snapshot: Snapshot, signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  const onExpiry = (): GantryError =>
    new GantryError(
      'timeout',
      `Server "${server.name}": no answer within ${budgetMs / 1000} s while waiting for ${what}.`,
    );
  using deadline = startDeadline(clock, budgetMs, { onExpiry });
  using lease = await leased(server, deadline.signal);
  return await work(lease.snapshot, deadline.signal);
};

const leased = async (server: ManagedServer, signal: AbortSignal): ReturnType<ManagedServer['leaseConnected']> => {
  try {
    return await server.leaseConnected({ signal });
  } catch (error) {
    if (!GantryError.is(error) || error.code !== 'server_unreachable') throw error;
    throw new GantryError(error.code, notReachable(server, error.message), { cause: error });
  }
};
