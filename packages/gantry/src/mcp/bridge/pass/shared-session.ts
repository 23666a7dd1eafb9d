import { newId } from '../../../kernel/ids.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { SharedSession } from '../../wire/pass-port.ts';
import { startExchange } from '../../wire/sessions/exchange.ts';
import type { Connection } from '../connection/open-connection.ts';
import type { ManagedServer } from '../server/managed-server.ts';
import { notPassedOn } from './not-passed-on.ts';

const sessions = new WeakMap<Connection, SharedSession>();

/** The session of the bridge's own connection to a server of 2025, the same as long as that is; undefined where it has no channel for others. */
export const sharedSessionOf = (
  server: Pick<ManagedServer, 'name' | 'maskSecrets'>,
  connection: Connection,
): SharedSession | undefined => {
  const { channel, client, isModern } = connection;
  if (!channel || isModern) return undefined;
  const known = sessions.get(connection);
  if (known) return known;
  const session: SharedSession = {
    capabilities: (client.getServerCapabilities() ?? {}) as JsonObject,
    request: (method, params, { owner } = {}) => {
      const id = newId();
      return startExchange({
        id,
        send: (take, signal) => channel.send({ id, method, params, client: undefined, owner }, take, signal),
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
  sessions.set(connection, session);
  return session;
};
