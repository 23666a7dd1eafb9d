import { messageOf } from '../../../kernel/errors.ts';
import type { Log } from '../../../kernel/log.ts';
import type { Connection } from '../connection/open-connection.ts';

/** A connection that several calls use: it ends when it is retired and the last of them has let go. */
export interface HeldConnection {
  readonly connection: Connection;
  /** Keeps the connection until the returned release is called. */
  hold(): () => void;
  /** No new holders, and nobody listens any more; resolves when the connection has ended. */
  retire(): Promise<void>;
}

/** Takes charge of a connection. */
export const holdConnection = (connection: Connection, server: string, log: Log): HeldConnection => {
  let holders = 0;
  let isRetired = false;
  const ended = Promise.withResolvers<void>();

  const end = (): void => {
    Promise.resolve(connection[Symbol.asyncDispose]())
      .catch((error: unknown) => log.debug({ server, reason: messageOf(error) }, 'a connection did not end cleanly'))
      .finally(ended.resolve);
  };

  return {
    connection,
    hold: () => {
      holders += 1;
      let isHeld = true;
      return () => {
        if (!isHeld) return;
        isHeld = false;
        holders -= 1;
        if (isRetired && holders === 0) end();
      };
    },
    retire: () => {
      if (!isRetired) {
        isRetired = true;
        connection.channel?.endListening();
        if (holders === 0) end();
      }
      return ended.promise;
    },
  };
};
