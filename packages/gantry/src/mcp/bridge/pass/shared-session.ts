import { startDeadline } from '../../../kernel/abort.ts';
import type { Clock } from '../../../kernel/clock.ts';
import type { GantryError } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { noAnswerWithin } from '../../wire/no-answer.ts';
import type { SharedSession } from '../../wire/pass-port.ts';
import { startExchange } from '../../wire/sessions/exchange.ts';
import { listeningProblem } from '../connection/channel.ts';
import type { Connection } from '../connection/open-connection.ts';
import type { ManagedServer } from '../server/managed-server.ts';
import { notPassedOn } from './not-passed-on.ts';

/** The session of the bridge's own connection to a server of 2025, and who uses it. */
interface Shared {
  readonly session: SharedSession;
  /** How often each client does. */
  readonly users: Map<string | undefined, number>;
}

const known = new WeakMap<Connection, Shared>();

/**
 * Joins those who use it, for as long as the connection lasts; undefined where it has no channel for others.
 * @throws {GantryError} `limit_reached` for a client that does so too often.
 */
export const joinShared = (
  server: Pick<ManagedServer, 'name' | 'maskSecrets'>,
  connection: Connection,
  options: { readonly client: string | undefined; readonly clock: Clock; readonly timeoutMs: number },
): ({ readonly session: SharedSession } & Disposable) | undefined => {
  const { client } = options;
  const shared = known.get(connection) ?? open(server, connection, options);
  if (!shared) return undefined;
  known.set(connection, shared);
  const { session, users } = shared;
  const own = users.get(client) ?? 0;
  const all = users.values().reduce((sum, count) => sum + count, 0);
  const problem = listeningProblem(server.name, all, own);
  if (problem) throw problem;
  users.set(client, own + 1);
  let isIn = true;
  return {
    session,
    [Symbol.dispose]: () => {
      if (!isIn) return;
      isIn = false;
      const left = (users.get(client) ?? 1) - 1;
      if (left > 0) users.set(client, left);
      else users.delete(client);
    },
  };
};

const open = (
  server: Pick<ManagedServer, 'name' | 'maskSecrets'>,
  { channel, client, isModern }: Connection,
  { clock, timeoutMs }: { readonly clock: Clock; readonly timeoutMs: number },
): Shared | undefined => {
  if (!channel || isModern) return undefined;
  const session: SharedSession = {
    capabilities: (client.getServerCapabilities() ?? {}) as JsonObject,
    request: (method, params, { owner } = {}) => {
      const id = newId();
      return startExchange({
        id,
        send: async (take, signal) => {
          const onExpiry = (): GantryError => noAnswerWithin(server.name, timeoutMs);
          using deadline = startDeadline(clock, timeoutMs, { signal, onExpiry });
          await channel.send({ id, method, params, client: undefined, owner }, take, deadline.signal);
        },
        // What the server asks over the session is answered by its policy.
        tell: async () => {},
        tellsCancelled: false,
        toError: (error) => notPassedOn(server, error, { isRequest: true }),
        mask: server.maskSecrets,
        onTrouble: () => {},
      });
    },
    listen: channel.listen,
  };
  return { session, users: new Map() };
};
